// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The raw type `Domain`: its methods are those of every theme that sends events. How a domain is
// found is in bindings/event/domain_object.cpp.
#include "bindings/module/domain_type.hpp"

#include <string>

#include "annotate/event/switchboard.hpp"
#include "bindings/annotation/annotation.hpp"
#include "bindings/counter/event_batch.hpp"
#include "bindings/device/range_object.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/event/event_attributes.hpp"
#include "bindings/range/push_pop.hpp"
#include "bindings/range/span_object.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

// A subclass may call it from its own __init__: all is done when the object is made.
int domain_init(PyObject*, PyObject*, PyObject*) { return 0; }

PyObject* domain_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"name", "level", nullptr};
  PyObject* name = Py_None;
  PyObject* level = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "|O$O:Domain", const_cast<char**>(names), &name,
                                   &level)) {
    return nullptr;
  }
  PyObject* domain = domain_from_object(name);
  if (domain && type != state().event.domain_type) domain = domain_of_type(type, domain);
  if (!domain) return nullptr;
  if (level != Py_None) {
    uint32_t number = 0;
    if (level_from_object(level, number) < 0) return nullptr;
    annotate::Domain& core = *as_domain(domain)->core;
    if (!core.set_default_level(number) &&
        warn_once(("level " + core.name()).c_str(),
                  "domain %R has level %u already: level %u is ignored", as_domain(domain)->name,
                  static_cast<unsigned>(core.level()), static_cast<unsigned>(number)) < 0) {
      return nullptr;
    }
    annotate::notify_tool_listener();
  }
  return Py_NewRef(domain);
}

void domain_dealloc(PyObject* object) {
  DomainObject* domain = as_domain(object);
  if (domain->weak_references) PyObject_ClearWeakRefs(object);
  Py_XDECREF(domain->name);
  Py_XDECREF(domain->dict);
  free_object(object);
}

PyObject* domain_repr(PyObject* object) {
  return PyUnicode_FromFormat("nvspan.Domain(%R)", as_domain(object)->name);
}

PyObject* domain_reduce(PyObject* object, PyObject*) {
  return Py_BuildValue("(O(O))", Py_TYPE(object), as_domain(object)->name);
}

PyObject* domain_copy(PyObject* object, PyObject*) { return Py_NewRef(object); }

PyObject* domain_name(PyObject* object, void*) { return Py_NewRef(as_domain(object)->name); }

PyObject* domain_level(PyObject* object, void*) {
  return PyLong_FromUnsignedLong(as_domain(object)->core->level());
}

int domain_put_level(PyObject* object, PyObject* value, void*) {
  uint32_t level = 0;
  if (!value) {
    PyErr_SetString(PyExc_AttributeError, "level cannot be deleted");
    return -1;
  }
  if (level_from_object(value, level) < 0) return -1;
  as_domain(object)->core->set_level(level);
  annotate::notify_tool_listener();
  return 0;
}

PyObject* domain_is_enabled(PyObject* object, void*) {
  return PyBool_FromLong(as_domain(object)->core->enabled());
}

PyObject* domain_categories(PyObject* object, void*) {
  py_ref result = py_ref::steal(PyDict_New());
  if (!result) return nullptr;
  for (const auto& [name, id] : as_domain(object)->core->categories()) {
    py_ref number = py_ref::steal(PyLong_FromUnsignedLong(id));
    py_ref key = py_ref::steal(
        PyUnicode_DecodeUTF8(name.data(), static_cast<Py_ssize_t>(name.size()), "replace"));
    if (!number || !key || PyDict_SetItem(result.get(), key.get(), number.get()) < 0) {
      return nullptr;
    }
  }
  return result.release();
}

PyObject* domain_handle(PyObject* object, void*) {
  return call_hook(&PythonHooks::domain_handle, object);
}

PyObject* domain_get_category_id(PyObject* object, PyObject* const* arguments, Py_ssize_t nargs,
                                 PyObject* kwnames) {
  PyObject* name = required_argument("get_category_id", "name", arguments, nargs, kwnames);
  if (!name) return nullptr;
  if (!PyUnicode_Check(name) && !PyBytes_Check(name)) {
    return PyErr_Format(PyExc_TypeError, "category name must be a str or bytes, not %R", name);
  }
  uint32_t id = 0;
  if (category_id_of_name(as_domain(object), name, annotate::CategoryIds::requested, id) < 0)
    return nullptr;
  return PyLong_FromUnsignedLong(id);
}

PyObject* domain_get_registered_string(PyObject* object, PyObject* const* arguments,
                                       Py_ssize_t nargs, PyObject* kwnames) {
  PyObject* string =
      required_argument("get_registered_string", "string", arguments, nargs, kwnames);
  if (!string) return nullptr;
  return call_hook(&PythonHooks::registered_string, object, string);
}

PyObject* domain_set_message_limit(PyObject* object, PyObject* const* arguments, Py_ssize_t nargs,
                                   PyObject* kwnames) {
  PyObject* value = required_argument("set_message_limit", "limit", arguments, nargs, kwnames);
  if (!value) return nullptr;
  const Py_ssize_t limit = PyNumber_AsSsize_t(value, PyExc_OverflowError);
  if (limit == -1 && PyErr_Occurred()) return nullptr;
  if (limit < 1) return PyErr_Format(PyExc_ValueError, "limit must be at least 1, not %R", value);
  as_domain(object)->core->set_message_limit(static_cast<size_t>(limit));
  Py_RETURN_NONE;
}

PyObject* domain_message_stats(PyObject* object, PyObject*) {
  const annotate::MessageStats stats = as_domain(object)->core->message_stats();
  return Py_BuildValue("{s:n,s:n,s:K}", "registered", static_cast<Py_ssize_t>(stats.registered),
                       "limit", static_cast<Py_ssize_t>(stats.limit), "overflowed",
                       static_cast<unsigned long long>(stats.overflowed));
}

PyObject* domain_enabled(PyObject* object, PyObject*) {
  const annotate::ToolTable* tool = annotate::listening_tool();
  return PyBool_FromLong(tool && as_domain(object)->core->connected(*tool));
}

// annotate(...) with this domain: `d.annotate`, bare and with arguments.
PyObject* domain_annotate(PyObject* object, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames) {
  return annotate_in_domain(object, args, nargs, kwnames);
}

// A kept annotation: `d.range`.
PyObject* domain_range(PyObject* object, PyObject* const* args, Py_ssize_t nargs,
                       PyObject* kwnames) {
  static constexpr CallForm form = {
      "range", 4, (event_fields & ~field_bit(field_domain)) | field_bit(field_level)};
  return annotation_from_call(form, object, args, nargs, kwnames);
}

PyObject* domain_annotate_class(PyObject* object, PyObject* args, PyObject* kwargs) {
  PyObject* function = python_hook(&PythonHooks::annotate_class);
  py_ref options = py_ref::steal(kwargs ? PyDict_Copy(kwargs) : PyDict_New());
  if (!function || !options) return nullptr;
  if (PyDict_GetItemString(options.get(), "domain")) {
    PyErr_SetString(PyExc_TypeError,
                    "annotate_class() of a Domain takes no keyword argument 'domain'");
    return nullptr;
  }
  if (PyDict_SetItemString(options.get(), "domain", object) < 0) return nullptr;
  return PyObject_Call(function, args, options.get());
}

PyMethodDef domain_methods[] = {
    {"annotate", as_method(domain_annotate), METH_FASTCALL | METH_KEYWORDS,
     "annotate($self, message=None, color=None, category=None, payload=None, *, kind=None, "
     "level=1)\n--\n\n"
     "nvspan.annotate with this domain: a context manager and a decorator, bare or with "
     "arguments."},
    {"annotate_class", as_method(domain_annotate_class), METH_VARARGS | METH_KEYWORDS,
     "nvspan.annotate_class with this domain."},
    {"range", as_method(domain_range), METH_FASTCALL | METH_KEYWORDS,
     "range($self, message=None, color=None, category=None, payload=None, *, level=1)\n--\n\n"
     "A range to keep and enter many times, in any thread, also inside itself: an annotate "
     "object."},
    {"span", as_method(span_in_domain), METH_FASTCALL | METH_KEYWORDS,
     "span($self, message=None, color=None, category=None, payload=None, *, level=1)\n--\n\n"
     "nvspan.span with this domain."},
    {"device_range", as_method(device_range_in_domain), METH_FASTCALL | METH_KEYWORDS,
     "device_range($self, message=None, *, stream=None, color=None, category=None, payload=None, "
     "backend='auto', placement='side', timing=False, capture='graph', level=1)\n--\n\n"
     "nvspan.device_range with this domain."},
    {"mark", as_method(domain_mark), METH_FASTCALL | METH_KEYWORDS,
     "mark($self, attributes=None, *, message=None, color=None, category=None, "
     "payload=None)\n--\n\n"
     "Sends an instantaneous event."},
    {"push_range", as_method(domain_push_range), METH_FASTCALL | METH_KEYWORDS,
     "push_range($self, attributes=None, *, message=None, color=None, category=None, "
     "payload=None)\n--\n\n"
     "Opens a range nested on this thread; close it with pop_range."},
    {"pop_range", as_method(domain_pop_range), METH_NOARGS,
     "pop_range($self)\n--\n\nCloses this thread's innermost range of this domain."},
    {"start_range", as_method(domain_start_range), METH_FASTCALL | METH_KEYWORDS,
     "start_range($self, attributes=None, *, message=None, color=None, category=None, "
     "payload=None)\n--\n\n"
     "Starts a range that any thread may end; returns its id (0 when no tool listens)."},
    {"end_range", as_method(domain_end_range), METH_FASTCALL | METH_KEYWORDS,
     "end_range($self, range_id)\n--\n\nEnds a range by the id that start_range returned."},
    {"get_event_attributes", as_method(domain_get_event_attributes), METH_FASTCALL | METH_KEYWORDS,
     "get_event_attributes($self, message=None, color=None, category=None, payload=None)\n--\n\n"
     "A new EventAttributes, to be passed to mark, push_range and start_range."},
    {"set_event_attributes", as_method(domain_set_event_attributes), METH_FASTCALL | METH_KEYWORDS,
     "set_event_attributes($self, attributes, *, message=..., color=..., category=..., "
     "payload=...)\n--\n\n"
     "Sets the given fields of an EventAttributes; None clears one."},
    {"get_registered_string", as_method(domain_get_registered_string),
     METH_FASTCALL | METH_KEYWORDS,
     "get_registered_string($self, string)\n--\n\nThe RegisteredString of `string` in this "
     "domain."},
    {"get_category_id", as_method(domain_get_category_id), METH_FASTCALL | METH_KEYWORDS,
     "get_category_id($self, name)\n--\n\nThe id of a named category, given at first use: 1, 2, "
     "...\n\n"
     "Numbers that the program passed as a category before are left out. A name that an event\n"
     "carried before has an id above 1000000000 and keeps it."},
    {"set_message_limit", as_method(domain_set_message_limit), METH_FASTCALL | METH_KEYWORDS,
     "set_message_limit($self, limit)\n--\n\nHow many different messages this domain registers."},
    {"message_stats", as_method(domain_message_stats), METH_NOARGS,
     "message_stats($self)\n--\n\ndict: registered, limit, overflowed."},
    {"get_counter", as_method(domain_get_counter), METH_VARARGS | METH_KEYWORDS,
     "get_counter($self, name, dtype, *, description=None, scope=None, semantics=None, "
     "time_domain=...)\n--\n\n"
     "The counter of that name; the same arguments give the same object."},
    {"get_timestamp", as_method(domain_get_timestamp), METH_NOARGS,
     "get_timestamp($self)\n--\n\nThe tool's clock, for batches; 0 with no tool."},
    {"get_scope_id", as_method(domain_get_scope_id), METH_VARARGS | METH_KEYWORDS,
     "get_scope_id($self, path, *, parent=None)\n--\n\n"
     "The tool's id of a scope, for fields of entry_type SCOPE_ID; 0 with no tool."},
    {"event_batch", as_method(domain_event_batch), METH_VARARGS | METH_KEYWORDS,
     "event_batch($self, rows, *, kind=None, ordering=..., scope=None, time_domain=...)\n--\n\n"
     "Sends marks or ranges that are over, with times of the caller's own, without a copy."},
    {"_enabled", as_method(domain_enabled), METH_NOARGS, nullptr},
    {"__reduce__", as_method(domain_reduce), METH_NOARGS, nullptr},
    {"__copy__", as_method(domain_copy), METH_NOARGS, nullptr},
    {"__deepcopy__", as_method(domain_copy), METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef domain_properties[] = {
    {"name", domain_name, nullptr, "The domain's name; None for the default domain.", nullptr},
    {"level", domain_level, domain_put_level,
     "Annotations of a higher level are not sent. May be set at any time.", nullptr},
    {"enabled", domain_is_enabled, nullptr, "False while the domain is switched off.", nullptr},
    {"categories", domain_categories, nullptr, "dict: name -> id of each named category.", nullptr},
    {"__dict__", PyObject_GenericGetDict, nullptr, nullptr, nullptr},
    {"handle", domain_handle, nullptr, "A DomainHandle: `.name` and `.enabled()`.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef domain_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(DomainObject, weak_references), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(DomainObject, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

const char domain_documentation[] =
    "Domain(name=None, *, level=None)\n--\n\n"
    "A named group of annotations, so that a library's ranges can be told from others'.\n\n"
    "The same name always gives the same object, whether a tool is attached or not; None is "
    "NVTX's\n"
    "default domain, '' a separate domain with an empty name. Any thread may use a domain.\n\n"
    "level: how verbose the domain is unless the environment variable NVSPAN_LEVEL says otherwise\n"
    "  (default 1); given twice with different values, the first holds and a warning says so.\n\n"
    ">>> import nvspan\n"
    ">>> domain = nvspan.Domain('mylib')\n"
    ">>> with domain.annotate('load'):\n"
    "...     pass\n";

}  // namespace

int domain_type_add_to_module(PyObject* module) {
  auto& event = state().event;
  event.domain_type = make_type("nvspan.Domain", sizeof(DomainObject), Py_TPFLAGS_BASETYPE,
                                {{Py_tp_new, slot(domain_new)},
                                 {Py_tp_init, slot(domain_init)},
                                 {Py_tp_dealloc, slot(domain_dealloc)},
                                 {Py_tp_repr, slot(domain_repr)},
                                 {Py_tp_methods, domain_methods},
                                 {Py_tp_getset, domain_properties},
                                 {Py_tp_members, domain_members},
                                 {Py_tp_doc, const_cast<char*>(domain_documentation)}});
  event.domains = PyDict_New();
  if (!event.domain_type || !event.domains) return -1;
  event.default_domain = make_domain(event.domain_type, Py_None);
  if (!event.default_domain) return -1;
  return PyModule_AddType(module, event.domain_type);
}

}  // namespace nvspan::bindings
