// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The raw type `annotate`: construction, attributes, lifetime. Entering and leaving is in
// annotate_context.cpp.
#include "bindings/annotate_object.hpp"

#include <new>

#include "bindings/annotate_context.hpp"
#include "bindings/annotation_cache.hpp"
#include "bindings/async_step.hpp"
#include "bindings/attributes_object.hpp"
#include "bindings/companion.hpp"
#include "bindings/domain_object.hpp"
#include "bindings/free_list.hpp"
#include "bindings/module_state.hpp"

namespace nvspan {

namespace {

constexpr CallForm annotate_form = {"annotate", 5, annotate_fields};
constexpr CallForm domain_annotate_form = {"annotate", 4,
                                           annotate_fields & ~field_bit(field_domain)};

Annotation* as_annotation(PyObject* object) noexcept {
  return reinterpret_cast<Annotation*>(object);
}

PyObject* as_object(Annotation* annotation) noexcept {
  return reinterpret_cast<PyObject*>(annotation);
}

void initialise(Annotation* annotation) noexcept {
  new (&annotation->own_fields) EventFields;
  annotation->fields = &annotation->own_fields;
  set_domain(annotation->own_fields, state().event.default_domain);
  annotation->kind = RangeKind::automatic;
  annotation->shareable = true;
  init_bound_methods(annotation);
}

// Freed annotations of the exact type, fields empty, references dropped, spans kept for reuse.
FreeList<Annotation, 256> free_annotations;

void clear_references(Annotation* annotation) noexcept {
  clear_fields(annotation->own_fields);
  Py_CLEAR(annotation->domain_argument);
  Py_CLEAR(annotation->name_from);
  annotation->fields = &annotation->own_fields;
  Py_CLEAR(annotation->attributes);
  Py_CLEAR(annotation->dict);
  delete std::exchange(annotation->companion, nullptr);
}

int annotate_traverse(PyObject* object, visitproc visit, void* arg) {
  Annotation* annotation = as_annotation(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(annotation->domain_argument);
  Py_VISIT(annotation->name_from);
  Py_VISIT(annotation->attributes);
  Py_VISIT(annotation->dict);
  return traverse_fields(annotation->own_fields, visit, arg);
}

int annotate_clear(PyObject* object) {
  clear_references(as_annotation(object));
  return 0;
}

void annotate_dealloc(PyObject* object) {
  Annotation* annotation = as_annotation(object);
  if (PyObject_GC_IsTracked(object)) PyObject_GC_UnTrack(object);
  if (annotation->weak_references) PyObject_ClearWeakRefs(object);
  clear_references(annotation);
  if (Py_IS_TYPE(object, state().annotation.type) && free_annotations.keep(annotation)) {
    if (annotation->spans) annotation->spans->clear();
    return;
  }
  delete annotation->spans;
  annotation->own_fields.~EventFields();
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

// A callable or an object with contents may refer back to us: only then does the collector look.
void track_if_needed(Annotation* annotation) noexcept {
  const EventFields& fields = annotation->own_fields;
  const auto compound = [](PyObject* value) { return value && PyObject_IS_GC(value); };
  if (compound(fields.message) || compound(fields.payload) || compound(fields.color) ||
      compound(annotation->name_from) || annotation->attributes || annotation->dict) {
    if (!PyObject_GC_IsTracked(as_object(annotation))) PyObject_GC_Track(as_object(annotation));
  }
}

PyObject* decorate(PyObject* annotation, PyObject* target) {
  return call_hook(&PythonHooks::decorate, annotation, target);
}

bool is_decoration(PyObject* const* args, Py_ssize_t nargs) noexcept {
  return nargs > 0 && !PyUnicode_Check(args[0]) && !PyBytes_Check(args[0]) &&
         (PyCallable_Check(args[0]) || Py_TYPE(args[0])->tp_descr_get);
}

// `@annotate` without parentheses: the function or class is the first positional argument.
PyObject* decorate_bare(const CallForm& form, PyObject* receiver, PyObject* const* args,
                        Py_ssize_t nargs, PyObject* kwnames) {
  CallArguments arguments;
  if (parse_call(form, args, nargs, kwnames, arguments) < 0) return nullptr;
  arguments.values[field_message] = nullptr;
  py_ref annotation = py_ref::steal(as_object(annotation_new()));
  if (!annotation ||
      set_annotation(as_annotation(annotation.get()), form, receiver, arguments) < 0) {
    return nullptr;
  }
  return decorate(annotation.get(), args[0]);
}

PyObject* annotate_call_in(const CallForm& form, PyObject* receiver, PyObject* const* args,
                           Py_ssize_t nargs, PyObject* kwnames) {
  if (Annotation* cached = cached_annotation(form, receiver, args, nargs, kwnames, true)) {
    return as_object(cached);
  }
  if (PyErr_Occurred()) return nullptr;
  if (is_decoration(args, nargs)) return decorate_bare(form, receiver, args, nargs, kwnames);
  return annotation_from_call(form, receiver, args, nargs, kwnames);
}

PyObject* annotate_vectorcall(PyObject*, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return annotate_call_in(annotate_form, nullptr, args, PyVectorcall_NARGS(nargsf), kwnames);
}

// Splits tuple and dict into the vectorcall form and calls `use`.
template <class Use>
auto with_vector(PyObject* args, PyObject* kwargs, Use&& use) {
  const Py_ssize_t nargs = PyTuple_GET_SIZE(args);
  const Py_ssize_t keywords = kwargs ? PyDict_GET_SIZE(kwargs) : 0;
  constexpr Py_ssize_t most = 32;
  PyObject* values[most] = {};
  py_ref kwnames;
  bool fits = nargs + keywords <= most;
  if (fits && keywords) kwnames = py_ref::steal(PyTuple_New(keywords));
  if (!fits || (keywords && !kwnames)) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, "annotate() got too many arguments");
    return use(nullptr, 0, nullptr, false);
  }
  for (Py_ssize_t i = 0; i < nargs; ++i) values[i] = PyTuple_GET_ITEM(args, i);
  PyObject *key, *value;
  Py_ssize_t position = 0;
  for (Py_ssize_t i = 0; kwargs && PyDict_Next(kwargs, &position, &key, &value); ++i) {
    PyTuple_SET_ITEM(kwnames.get(), i, Py_NewRef(key));
    values[nargs + i] = value;
  }
  return use(values, nargs, kwnames.get(), true);
}

// Reached for subclasses only: the type itself is called through its vectorcall.
PyObject* annotate_new(PyTypeObject* type, PyObject* args, PyObject* kwargs);
int annotate_init(PyObject* object, PyObject* args, PyObject* kwargs);

PyObject* annotate_new(PyTypeObject* type, PyObject* args, PyObject* kwargs) {
  if (type->tp_init == annotate_init && PyTuple_GET_SIZE(args) > 0) {
    PyObject* first = PyTuple_GET_ITEM(args, 0);
    if (is_decoration(&first, 1)) {
      py_ref rest = py_ref::steal(PyTuple_GetSlice(args, 1, PyTuple_GET_SIZE(args)));
      py_ref full = py_ref::steal(PyTuple_New(PyTuple_GET_SIZE(args)));
      if (!rest || !full) return nullptr;
      PyTuple_SET_ITEM(full.get(), 0, Py_NewRef(Py_None));
      for (Py_ssize_t i = 1; i < PyTuple_GET_SIZE(args); ++i) {
        PyTuple_SET_ITEM(full.get(), i, Py_NewRef(PyTuple_GET_ITEM(args, i)));
      }
      py_ref annotation =
          py_ref::steal(PyObject_Call(reinterpret_cast<PyObject*>(type), full.get(), kwargs));
      return annotation ? decorate(annotation.get(), first) : nullptr;
    }
  }
  PyObject* object = type->tp_alloc(type, 0);
  if (!object) return nullptr;
  initialise(as_annotation(object));
  as_annotation(object)->shareable = false;
  return object;
}

int annotate_init(PyObject* object, PyObject* args, PyObject* kwargs) {
  Annotation* annotation = as_annotation(object);
  annotation->shareable = false;
  return with_vector(
      args, kwargs, [&](PyObject* const* values, Py_ssize_t nargs, PyObject* kwnames, bool ok) {
        CallArguments arguments;
        if (!ok || parse_call(annotate_form, values, nargs, kwnames, arguments) < 0) {
          return -1;
        }
        annotation->fields = &annotation->own_fields;
        Py_CLEAR(annotation->attributes);
        const int result = set_annotation(annotation, annotate_form, nullptr, arguments);
        track_if_needed(annotation);
        return result;
      });
}

PyObject* annotate_call(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"func", nullptr};
  PyObject* target = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:annotate", const_cast<char**>(names),
                                   &target)) {
    return nullptr;
  }
  return decorate(object, target);
}

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
    case RangeKind::nested:
      return PyUnicode_FromString("nested");
    case RangeKind::span:
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
  annotation->kind = RangeKind::span;
  track_if_needed(annotation);
  return as_object(annotation);
}

// For the decorators, which ask a device range for the same: an annotation may be open many times.
PyObject* annotate_fresh(PyObject* object, PyObject*) { return Py_NewRef(object); }

PyObject* annotate_repr(PyObject* object) {
  py_ref arguments = py_ref::steal(get_init_args(object, nullptr));
  if (!arguments) return nullptr;
  PyObject* const* items = &PyTuple_GET_ITEM(arguments.get(), 0);
  return PyUnicode_FromFormat("%s(message=%R, color=%R, domain=%R, category=%R, payload=%R)",
                              Py_TYPE(object)->tp_name, items[0], items[1], items[2], items[3],
                              items[4]);
}

PyMethodDef methods[] = {{"__aenter__", as_method(annotate_aenter), METH_NOARGS, nullptr},
                         {"__aexit__", as_method(annotate_aexit), METH_FASTCALL, nullptr},
                         {"__reduce__", as_method(annotate_reduce), METH_NOARGS, nullptr},
                         {"_fresh", as_method(annotate_fresh), METH_NOARGS, nullptr},
                         {"_spanning", as_method(annotate_spanning), METH_NOARGS, nullptr},
                         {"_named", as_method(annotate_named), METH_O, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

PyGetSetDef properties[] = {
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

PyMemberDef members[] = {
    {"__weaklistoffset__", T_PYSSIZET, offsetof(Annotation, weak_references), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Annotation, dict), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

const char documentation[] =
    "annotate(message=None, color=None, domain=None, category=None, payload=None, *, kind=None,\n"
    "         level=1, name_from='name', device=False, sync=False)\n--\n\n"
    "Marks the time that a block of code or a function takes: a context manager and a "
    "decorator.\n\n"
    "message: the range's name (str or bytes); by keyword also a callable, called at each entry "
    "when\n"
    "  a tool listens. As a decorator it defaults to the function's name.\n"
    "color: a name, '#rgb', '#rrggbb', '#aarrggbb', a tuple, an ARGB int, or 'auto'.\n"
    "domain: a name or a Domain. category: a name or an id.\n"
    "payload: a number (an int of at most 64 bits, a float, bool, enum member, NumPy or 0-d "
    "scalar);\n"
    "  text, bytes, a list, tuple, dict, dataclass, NamedTuple, NumPy array or tensor, which a "
    "tool\n"
    "  gets with a schema of its fields; or a callable that returns one of these. What can be none "
    "of\n"
    "  them is warned about once for each type, and the range goes out without a payload.\n"
    "kind: 'nested' (push/pop), 'span' (start/end); None chooses span where the frame that enters "
    "is\n"
    "  that of a coroutine or asynchronous generator, else nested.\n"
    "level: verbosity, 0 to 1000. name_from: 'name', 'qualname' or a callable given the "
    "function.\n"
    "device: also mark the time in which the current CUDA stream does the work: a device_range "
    "with\n"
    "  the same name and attributes. Without CUDA there is the CPU range alone.\n"
    "sync: wait, before the range closes, for that stream (without device: the current one). Only\n"
    "  while a tool listens, and not in a stream that is captured.\n\n"
    "Raises TypeError, ValueError or OverflowError for bad arguments, with and without a tool.\n"
    "One object may be entered many times at once, by any thread or task. A range that is open in\n"
    "the parent at a fork is closed in the child as well.\n\n"
    ">>> import nvspan\n"
    ">>> with nvspan.annotate('load', color='green', payload=3):\n"
    "...     pass\n"
    ">>> @nvspan.annotate\n"
    "... def forward(x):\n"
    "...     return x\n";

PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(annotate_new)},
                       {Py_tp_init, reinterpret_cast<void*>(annotate_init)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(annotate_dealloc)},
                       {Py_tp_traverse, reinterpret_cast<void*>(annotate_traverse)},
                       {Py_tp_clear, reinterpret_cast<void*>(annotate_clear)},
                       {Py_tp_call, reinterpret_cast<void*>(annotate_call)},
                       {Py_tp_setattro, reinterpret_cast<void*>(annotate_setattro)},
                       {Py_tp_repr, reinterpret_cast<void*>(annotate_repr)},
                       {Py_tp_methods, methods},
                       {Py_tp_getset, properties},
                       {Py_tp_members, members},
                       {Py_tp_doc, const_cast<char*>(documentation)},
                       {0, nullptr}};

PyType_Spec spec = {"nvspan.annotate", sizeof(Annotation), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};

}  // namespace

Annotation* annotation_new() {
  if (Annotation* annotation = free_annotations.take()) {
    annotation->kind = RangeKind::automatic;
    annotation->shareable = true;
    annotation->failed_lazily = false;
    set_domain(annotation->own_fields, state().event.default_domain);
    return annotation;
  }
  PyTypeObject* type = state().annotation.type;
  PyObject* object = type->tp_alloc(type, 0);
  if (!object) return nullptr;
  PyObject_GC_UnTrack(object);
  initialise(as_annotation(object));
  return as_annotation(object);
}

Annotation* annotation_clone(const Annotation* original) {
  Annotation* annotation = annotation_new();
  if (!annotation) return nullptr;
  copy_fields(annotation->own_fields, *original->fields);
  annotation->kind = original->kind;
  annotation->domain_argument = Py_XNewRef(original->domain_argument);
  annotation->name_from = Py_XNewRef(original->name_from);
  if (original->companion) annotation->companion = new Companion(*original->companion);
  return annotation;
}

PyObject* annotation_from_call(const CallForm& form, PyObject* receiver, PyObject* const* args,
                               Py_ssize_t nargs, PyObject* kwnames) {
  Annotation* annotation = annotation_for_call(form, receiver, args, nargs, kwnames, true);
  if (annotation) track_if_needed(annotation);
  return as_object(annotation);
}

PyObject* annotate_in_domain(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames) {
  return annotate_call_in(domain_annotate_form, domain, args, nargs, kwnames);
}

int annotate_object_add_to_module(PyObject* module) {
  PyTypeObject* type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!type) return -1;
  state().annotation.type = type;
  type->tp_vectorcall = annotate_vectorcall;
  if (add_context_descriptors(type) < 0 || async_step_init() < 0) return -1;
  // CPython specialises calls of immutable classes with a vectorcall (6 ns a call on 3.11).
  type->tp_flags |= Py_TPFLAGS_IMMUTABLETYPE;
  PyType_Modified(type);
  PyObject* object = reinterpret_cast<PyObject*>(type);
  // "Annotation" is the same type under a name for type annotations.
  if (PyModule_AddObjectRef(module, "Annotation", object) < 0) return -1;
  return PyModule_AddObjectRef(module, "annotate", object);
}

}  // namespace nvspan
