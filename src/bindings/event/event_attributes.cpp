// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/event/event_attributes.hpp"

#include <new>

#include "bindings/event/domain_object.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

AttributesObject* as_attributes(PyObject* object) noexcept {
  return reinterpret_cast<AttributesObject*>(object);
}

EventFields& fields_of(PyObject* object) noexcept { return as_attributes(object)->fields; }

AttributesObject* allocate() {
  PyTypeObject* type = state().event.attributes_type;
  PyObject* object = type->tp_alloc(type, 0);
  if (!object) return nullptr;
  new (&as_attributes(object)->fields) EventFields;
  set_domain(fields_of(object), state().event.default_domain);
  return as_attributes(object);
}

// A message as the nvtx package takes it here: a RegisteredString, or text.
int set_message_or_registered(EventFields& fields, PyObject* value) {
  if (value == Py_None || PyUnicode_Check(value) || PyBytes_Check(value)) {
    return set_message(fields, value, false);
  }
  if (const py_ref path = path_text(value)) return set_message(fields, path.get(), false);
  if (PyErr_Occurred()) return -1;
  py_ref string = py_ref::steal(PyObject_GetAttrString(value, "string"));
  if (!string || (!PyUnicode_Check(string.get()) && !PyBytes_Check(string.get()))) {
    PyErr_Clear();
    PyErr_Format(PyExc_TypeError,
                 "message must be a str, bytes, a RegisteredString or None, not %R", value);
    return -1;
  }
  return set_message(fields, string.get(), false);
}

PyObject* attributes_new(PyTypeObject*, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"domain", "message", "color", "category", "payload", nullptr};
  PyObject* domain = Py_None;
  CallArguments arguments;
  PyObject** values = arguments.values;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|OOOO:EventAttributes",
                                   const_cast<char**>(names), &domain, &values[field_message],
                                   &values[field_color], &values[field_category],
                                   &values[field_payload])) {
    return nullptr;
  }
  PyObject* found = domain_from_object(domain);
  AttributesObject* attributes = found ? allocate() : nullptr;
  if (!attributes) return nullptr;
  set_domain(attributes->fields, found);
  if (update_attributes(attributes, arguments) < 0) {
    Py_DECREF(reinterpret_cast<PyObject*>(attributes));
    return nullptr;
  }
  return reinterpret_cast<PyObject*>(attributes);
}

int attributes_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  return traverse_fields(fields_of(object), visit, arg);
}

int attributes_clear(PyObject* object) {
  clear_fields(fields_of(object));
  return 0;
}

void attributes_dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  if (as_attributes(object)->weak_references) PyObject_ClearWeakRefs(object);
  clear_fields(fields_of(object));
  fields_of(object).~EventFields();
  free_object(object);
}

PyObject* get_message(PyObject* object, void*) {
  const EventFields& fields = fields_of(object);
  if (!fields.message) Py_RETURN_NONE;
  return call_hook(&PythonHooks::registered_string, fields.domain, fields.message);
}

PyObject* get_domain(PyObject* object, void*) { return Py_NewRef(fields_of(object).domain); }

PyObject* value_or_none(PyObject* value) { return Py_NewRef(value ? value : Py_None); }

PyObject* get_color(PyObject* object, void*) { return value_or_none(fields_of(object).color); }

PyObject* get_category(PyObject* object, void*) {
  return PyLong_FromUnsignedLong(fields_of(object).event.attributes.category);
}

PyObject* get_payload(PyObject* object, void*) { return value_or_none(fields_of(object).payload); }

int refuse_deletion(PyObject* value, const char* name) {
  if (value) return 0;
  PyErr_Format(PyExc_AttributeError, "%s cannot be deleted; set it to None", name);
  return -1;
}

int put_message(PyObject* object, PyObject* value, void*) {
  return refuse_deletion(value, "message") < 0
             ? -1
             : set_message_or_registered(fields_of(object), value);
}

int put_color(PyObject* object, PyObject* value, void*) {
  return refuse_deletion(value, "color") < 0 ? -1 : set_color(fields_of(object), value);
}

int put_category(PyObject* object, PyObject* value, void*) {
  return refuse_deletion(value, "category") < 0 ? -1 : set_category(fields_of(object), value);
}

int put_payload(PyObject* object, PyObject* value, void*) {
  return refuse_deletion(value, "payload") < 0 ? -1 : set_payload(fields_of(object), value, true);
}

PyObject* attributes_repr(PyObject* object) {
  const EventFields& fields = fields_of(object);
  return PyUnicode_FromFormat(
      "EventAttributes(%R, message=%R, color=%R, category=%R, payload=%R)",
      reinterpret_cast<DomainObject*>(fields.domain)->name,
      fields.message ? fields.message : Py_None, fields.color ? fields.color : Py_None,
      fields.category ? fields.category : Py_None, fields.payload ? fields.payload : Py_None);
}

PyGetSetDef attributes_properties[] = {
    {"message", get_message, put_message, "A RegisteredString or None; settable to text too.",
     nullptr},
    {"color", get_color, put_color, "The color as given, or None.", nullptr},
    {"category", get_category, put_category,
     "The category's id, 0 for none; settable to a name too.", nullptr},
    {"payload", get_payload, put_payload, "The payload as given, or None.", nullptr},
    {"domain", get_domain, nullptr, "The Domain it was made for.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef attributes_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(AttributesObject, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr}};

const char attributes_documentation[] =
    "EventAttributes(domain, message=None, color=None, category=None, payload=None)\n--\n\n"
    "A kept set of event attributes; made by Domain.get_event_attributes.\n\n"
    "Works with no tool as with one. Used in another domain, its names are looked up there. Not\n"
    "copied when an event is sent: do not change it in one thread while another sends it.\n\n"
    ">>> import nvspan\n"
    ">>> domain = nvspan.get_domain('mylib')\n"
    ">>> attributes = domain.get_event_attributes(message='load', color='green')\n"
    ">>> domain.push_range(attributes)\n"
    ">>> domain.pop_range()\n";

constexpr CallForm get_form = {"get_event_attributes", 4, attribute_fields};
constexpr CallForm set_form = {"set_event_attributes", 0, attribute_fields};

}  // namespace

PyObject* attributes_from_fields(const EventFields& source) {
  AttributesObject* attributes = allocate();
  if (attributes) copy_fields(attributes->fields, source);
  return reinterpret_cast<PyObject*>(attributes);
}

int update_attributes(AttributesObject* attributes, const CallArguments& arguments) {
  EventFields& fields = attributes->fields;
  PyObject* const* values = arguments.values;
  if (values[field_message] && set_message_or_registered(fields, values[field_message]) < 0)
    return -1;
  if (values[field_color] && set_color(fields, values[field_color]) < 0) return -1;
  if (values[field_category] && set_category(fields, values[field_category]) < 0) return -1;
  if (values[field_payload] && set_payload(fields, values[field_payload], true) < 0) return -1;
  return 0;
}

PyObject* domain_get_event_attributes(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                                      PyObject* kwnames) {
  CallArguments arguments;
  if (parse_call(get_form, args, nargs, kwnames, arguments) < 0) return nullptr;
  AttributesObject* attributes = allocate();
  if (!attributes) return nullptr;
  set_domain(attributes->fields, domain);
  if (update_attributes(attributes, arguments) < 0) {
    Py_DECREF(reinterpret_cast<PyObject*>(attributes));
    return nullptr;
  }
  return reinterpret_cast<PyObject*>(attributes);
}

PyObject* domain_set_event_attributes(PyObject*, PyObject* const* args, Py_ssize_t nargs,
                                      PyObject* kwnames) {
  if (nargs != 1 || !is_attributes(args[0])) {
    return PyErr_Format(PyExc_TypeError,
                        "set_event_attributes() takes one EventAttributes and keyword arguments");
  }
  CallArguments arguments;
  if (parse_call(set_form, args + 1, 0, kwnames, arguments) < 0 ||
      update_attributes(as_attributes(args[0]), arguments) < 0) {
    return nullptr;
  }
  Py_RETURN_NONE;
}

int attributes_object_add_to_module(PyObject* module) {
  state().event.attributes_type =
      make_type("nvspan.EventAttributes", sizeof(AttributesObject), Py_TPFLAGS_HAVE_GC,
                {{Py_tp_new, slot(attributes_new)},
                 {Py_tp_dealloc, slot(attributes_dealloc)},
                 {Py_tp_traverse, slot(attributes_traverse)},
                 {Py_tp_clear, slot(attributes_clear)},
                 {Py_tp_repr, slot(attributes_repr)},
                 {Py_tp_getset, attributes_properties},
                 {Py_tp_members, attributes_members},
                 {Py_tp_doc, const_cast<char*>(attributes_documentation)}});
  return add_type(module, state().event.attributes_type);
}

}  // namespace nvspan::bindings
