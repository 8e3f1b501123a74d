// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// How annotations are made, called and freed. What they show to Python is in annotation_type.cpp,
// entering and leaving in context.cpp.
#include "bindings/annotation/annotation.hpp"

#include <new>

#include "bindings/annotation/annotation_cache.hpp"
#include "bindings/annotation/annotation_type.hpp"
#include "bindings/annotation/companion.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/support/free_list.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

constexpr CallForm annotate_form = {"annotate", 5, annotate_fields};
constexpr CallForm domain_annotate_form = {"annotate", 4,
                                           annotate_fields & ~field_bit(field_domain)};

void initialise(Annotation* annotation) noexcept {
  new (&annotation->own_fields) EventFields;
  annotation->fields = &annotation->own_fields;
  set_domain(annotation->own_fields, state().event.default_domain);
  annotation->kind = AnnotationKind::automatic;
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

PyObject* decorate(PyObject* annotation, PyObject* target) {
  return call_hook(&PythonHooks::decorate, annotation, target);
}

// `@annotate` without parentheses: the function or class is the first positional argument.
PyObject* decorate_bare(const CallForm& form, PyObject* receiver, PyObject* const* args,
                        Py_ssize_t nargs, PyObject* kwnames) {
  CallArguments arguments;
  if (parse_call(form, args, nargs, kwnames, arguments) < 0) return nullptr;
  arguments.values[field_message] = nullptr;
  py_ref annotation = py_ref::steal(as_object(annotation_new()));
  if (!annotation || set_annotation(as_annotation(annotation.get()), receiver, arguments) < 0) {
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

}  // namespace

void track_if_needed(Annotation* annotation) noexcept {
  const EventFields& fields = annotation->own_fields;
  const auto compound = [](PyObject* value) { return value && PyObject_IS_GC(value); };
  if (compound(fields.message) || compound(fields.payload) || compound(fields.color) ||
      compound(annotation->name_from) || annotation->attributes || annotation->dict) {
    if (!PyObject_GC_IsTracked(as_object(annotation))) PyObject_GC_Track(as_object(annotation));
  }
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
  free_object(object);
}

PyObject* annotate_vectorcall(PyObject*, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return annotate_call_in(annotate_form, nullptr, args, PyVectorcall_NARGS(nargsf), kwnames);
}

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
        const int result = set_annotation(annotation, nullptr, arguments);
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

Annotation* annotation_new() {
  if (Annotation* annotation = free_annotations.take()) {
    annotation->kind = AnnotationKind::automatic;
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

}  // namespace nvspan::bindings
