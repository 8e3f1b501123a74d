// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/annotation/annotation_type.hpp"

#include <cstddef>

#include "bindings/annotation/annotation_cache.hpp"
#include "bindings/annotation/companion.hpp"
#include "bindings/event/event_attributes.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

PyObject* value_or_none(PyObject* value) { return Py_NewRef(value ? value : Py_None); }

PyObject* get_init_args(PyObject* object, void*) {
  const Annotation* annotation = as_annotation(object);
  const EventFields& fields = *annotation->fields;
  const auto given = [](PyObject* value) { return value ? value : Py_None; };
  return PyTuple_Pack(5, given(fields.message), given(fields.color),
                      given(annotation->domain_argument), given(fields.category),
                      given(fields.payload));
}

PyObject* get_domain(PyObject* object, void*) {
  return Py_NewRef(as_annotation(object)->fields->domain);
}

PyObject* get_attributes(PyObject* object, void*) {
  Annotation* annotation = as_annotation(object);
  if (!annotation->attributes) {
    PyObject* attributes = attributes_from_fields(annotation->own_fields);
    if (!attributes) return nullptr;
    annotation->attributes = attributes;
    annotation->fields = &reinterpret_cast<AttributesObject*>(attributes)->fields;
    annotation->shareable = false;
    track_if_needed(annotation);
  }
  return Py_NewRef(annotation->attributes);
}

// What the program hangs on an annotation is not for whoever constructs an equal one.
void keep_apart(PyObject* object) noexcept {
  Annotation* annotation = as_annotation(object);
  if (annotation->shareable) forget_annotation(annotation);
  annotation->shareable = false;
  track_if_needed(annotation);
}

int annotate_setattro(PyObject* object, PyObject* name, PyObject* value) {
  if (PyObject_GenericSetAttr(object, name, value) < 0) return -1;
  keep_apart(object);
  return 0;
}

PyObject* get_dict(PyObject* object, void* context) {
  py_ref dict = py_ref::steal(PyObject_GenericGetDict(object, context));
  if (dict) keep_apart(object);
  return dict.release();
}

PyObject* get_mutable_payload(PyObject* object, void*) {
  PyObject* payload = as_annotation(object)->fields->payload;
  const bool immutable = !payload || PyLong_Check(payload) || PyFloat_Check(payload) ||
                         PyTuple_Check(payload) || PyRange_Check(payload) || PyBytes_Check(payload);
  return value_or_none(immutable ? nullptr : payload);
}

PyObject* get_kind(PyObject* object, void*) {
  switch (as_annotation(object)->kind) {
    case AnnotationKind::nested:
      return PyUnicode_FromString("nested");
    case AnnotationKind::span:
      return PyUnicode_FromString("span");
    default:
      Py_RETURN_NONE;
  }
}

PyObject* get_level(PyObject* object, void*) {
  return PyLong_FromUnsignedLong(as_annotation(object)->fields->event.level);
}

PyObject* get_name_from(PyObject* object, void*) {
  return value_or_none(as_annotation(object)->name_from);
}

PyObject* get_device(PyObject* object, void*) {
  const Companion* companion = as_annotation(object)->companion;
  return PyBool_FromLong(companion && companion->device);
}

PyObject* get_sync(PyObject* object, void*) {
  const Companion* companion = as_annotation(object)->companion;
  return PyBool_FromLong(companion && companion->sync);
}

PyObject* annotate_reduce(PyObject* object, PyObject*) {
  py_ref arguments = py_ref::steal(get_init_args(object, nullptr));
  py_ref kind = py_ref::steal(get_kind(object, nullptr));
  py_ref name_from = py_ref::steal(get_name_from(object, nullptr));
  if (!arguments || !kind || !name_from) return nullptr;
  const uint32_t level = as_annotation(object)->fields->event.level;
  const Companion* companion = as_annotation(object)->companion;
  if (kind.get() == Py_None && name_from.get() == Py_None && level == 1 && !companion) {
    return Py_BuildValue("(OO)", Py_TYPE(object), arguments.get());
  }
  py_ref functools = py_ref::steal(PyImport_ImportModule("functools"));
  py_ref partial =
      py_ref::steal(functools ? PyObject_GetAttrString(functools.get(), "partial") : nullptr);
  py_ref only_type = py_ref::steal(PyTuple_Pack(1, Py_TYPE(object)));
  py_ref keywords = py_ref::steal(
      Py_BuildValue("{s:O,s:I,s:O,s:O,s:O}", "kind", kind.get(), "level", level, "name_from",
                    name_from.get(), "device", companion && companion->device ? Py_True : Py_False,
                    "sync", companion && companion->sync ? Py_True : Py_False));
  if (!partial || !only_type || !keywords) return nullptr;
  py_ref maker = py_ref::steal(PyObject_Call(partial.get(), only_type.get(), keywords.get()));
  return maker ? Py_BuildValue("(OO)", maker.get(), arguments.get()) : nullptr;
}

// A fresh annotation for one decorated function, named `name` unless it has a message.
PyObject* annotate_named(PyObject* object, PyObject* name) {
  Annotation* annotation = annotation_clone(as_annotation(object));
  if (!annotation) return nullptr;
  annotation->shareable = false;
  if (!annotation->fields->message && set_message(*annotation->fields, name, false) < 0) {
    Py_DECREF(as_object(annotation));
    return nullptr;
  }
  track_if_needed(annotation);
  return as_object(annotation);
}

// The same with kind="span".
PyObject* annotate_spanning(PyObject* object, PyObject*) {
  Annotation* annotation = annotation_clone(as_annotation(object));
  if (!annotation) return nullptr;
  annotation->shareable = false;
  annotation->kind = AnnotationKind::span;
  track_if_needed(annotation);
  return as_object(annotation);
}

// For the decorators, which ask a device range for the same: an annotation may be open many times.
PyObject* annotate_for_call(PyObject* object, PyObject*) { return Py_NewRef(object); }

PyObject* annotate_repr(PyObject* object) {
  py_ref arguments = py_ref::steal(get_init_args(object, nullptr));
  if (!arguments) return nullptr;
  PyObject* const* items = &PyTuple_GET_ITEM(arguments.get(), 0);
  return PyUnicode_FromFormat("%s(message=%R, color=%R, domain=%R, category=%R, payload=%R)",
                              Py_TYPE(object)->tp_name, items[0], items[1], items[2], items[3],
                              items[4]);
}

PyMethodDef annotation_methods[] = {
    {"__aenter__", as_method(annotate_aenter), METH_NOARGS, nullptr},
    {"__aexit__", as_method(annotate_aexit), METH_FASTCALL, nullptr},
    {"__reduce__", as_method(annotate_reduce), METH_NOARGS, nullptr},
    {"_for_call", as_method(annotate_for_call), METH_NOARGS, nullptr},
    {"_spanning", as_method(annotate_spanning), METH_NOARGS, nullptr},
    {"_named", as_method(annotate_named), METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef annotation_properties[] = {
    {"init_args", get_init_args, nullptr, "The five positional arguments, as given.", nullptr},
    {"domain", get_domain, nullptr, "The Domain.", nullptr},
    {"attributes", get_attributes, nullptr, "The EventAttributes that are sent; may be changed.",
     nullptr},
    {"mutable_payload", get_mutable_payload, nullptr, "The payload if its type is mutable.",
     nullptr},
    {"kind", get_kind, nullptr, "None (automatic), 'nested' or 'span'.", nullptr},
    {"level", get_level, nullptr, "The verbosity level.", nullptr},
    {"device", get_device, nullptr, "Whether there is a range of the GPU's work as well.", nullptr},
    {"sync", get_sync, nullptr, "Whether it waits for the stream before it closes.", nullptr},
    {"__dict__", get_dict, nullptr, nullptr, nullptr},
    {"name_from", get_name_from, nullptr, "Where a decorated function's name comes from.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMemberDef annotation_members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Annotation, weak_references), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Annotation, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

const char annotation_documentation[] =
    "annotate(message=None, color=None, domain=None, category=None, payload=None, *, kind=None,\n"
    "         level=1, name_from='name', device=False, sync=False)\n--\n\n"
    "Time a block or a function as a range. Context manager, async context manager, decorator.\n\n"
    "Args:\n"
    "    message: Name of the range (str or bytes); by keyword also a callable, which runs at\n"
    "        each entry while a tool is attached. A decorated function's name is the default.\n"
    "    color: A CSS name, '#rgb', '#rrggbb', '#aarrggbb', a tuple, an ARGB int, or 'auto'.\n"
    "    domain: A name or a Domain; None is NVTX's default domain.\n"
    "    category: A name, or a number from 0 to 4,294,967,295.\n"
    "    payload: A number of at most 64 bits; text, bytes, a list, tuple, dict, dataclass,\n"
    "        NamedTuple, NumPy array or CPU tensor, sent with a schema of its fields; or a\n"
    "        callable that returns one of these.\n"
    "    kind: 'nested' (push/pop) or 'span' (start/end). Default: span directly in a\n"
    "        coroutine or an asynchronous generator, else nested.\n"
    "    level: Detail, 0 to 1000. Ranges above the domain's level (default 1) are not sent.\n"
    "    name_from: How a decorated function is named: 'name', 'qualname' or a callable.\n"
    "    device: Add a device_range of this name on the current CUDA stream. No effect without\n"
    "        CUDA.\n"
    "    sync: Wait for that stream before the range ends. Only while a tool is attached,\n"
    "        never while the stream is captured.\n\n"
    "Raises:\n"
    "    TypeError, ValueError, OverflowError: Invalid argument, with and without a tool.\n\n"
    "Warns:\n"
    "    NvspanWarning: Once per cause: a payload cannot be encoded, or a callable raised. The\n"
    "        range is sent without it.\n\n"
    "One object may be entered recursively and by any thread or task at once. A range open at\n"
    "a fork ends in parent and child.\n\n"
    ">>> import nvspan\n"
    ">>> with nvspan.annotate('load', color='green', payload=3):\n"
    "...     pass\n"
    ">>> @nvspan.annotate\n"
    "... def forward(x):\n"
    "...     return x\n";

}  // namespace

int annotation_type_add_to_module(PyObject* module) {
  PyTypeObject* type =
      make_type("nvspan.annotate", sizeof(Annotation), Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC,
                {{Py_tp_new, slot(annotate_new)},
                 {Py_tp_init, slot(annotate_init)},
                 {Py_tp_dealloc, slot(annotate_dealloc)},
                 {Py_tp_traverse, slot(annotate_traverse)},
                 {Py_tp_clear, slot(annotate_clear)},
                 {Py_tp_call, slot(annotate_call)},
                 {Py_tp_setattro, slot(annotate_setattro)},
                 {Py_tp_repr, slot(annotate_repr)},
                 {Py_tp_methods, annotation_methods},
                 {Py_tp_getset, annotation_properties},
                 {Py_tp_members, annotation_members},
                 {Py_tp_doc, const_cast<char*>(annotation_documentation)}});
  state().annotation.type = type;
  if (!type || add_context_descriptors(type) < 0 || async_step_init() < 0) return -1;
  seal_type(type, annotate_vectorcall);
  // "Annotation" is the same type under a name for type annotations.
  if (PyModule_AddObjectRef(module, "Annotation", reinterpret_cast<PyObject*>(type)) < 0) return -1;
  return PyModule_AddType(module, type);
}

}  // namespace nvspan::bindings
