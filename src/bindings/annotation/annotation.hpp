// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Annotations: the objects of the raw type `annotate`, context manager and decorator.

#include "bindings/support/py.hpp"
#include "annotate/event/event.hpp"
#include "bindings/event/event_fields.hpp"
#include "bindings/event/open_spans.hpp"
#include "bindings/support/context_method.hpp"

namespace nvspan::bindings {

enum class AnnotationKind : uint8_t { automatic, nested, span };

struct Companion;

struct Annotation {
  PyObject_HEAD EventFields*
      fields;        // &own_fields, or those of `attributes` once the user has asked for them
  OpenSpans* spans;  // start/end ranges that are open on this object; null: none
  AnnotationKind kind;
  bool shareable;      // nobody has had a way to change it: may be handed out again
  bool failed_lazily;  // a message or payload callable has failed and was warned about
  BoundMethod enter;
  BoundMethod exit;
  EventFields own_fields;
  PyObject* domain_argument;  // as given
  PyObject* name_from;        // null: "name"
  PyObject* attributes;       // EventAttributes, once asked for
  PyObject* weak_references;
  PyObject* dict;        // attributes that the program has set; null: none
  Companion* companion;  // owned; null: neither device=True nor sync=True
};

inline Annotation* as_annotation(PyObject* object) noexcept {
  return reinterpret_cast<Annotation*>(object);
}

inline PyObject* as_object(Annotation* annotation) noexcept {
  return reinterpret_cast<PyObject*>(annotation);
}

// Whether a call's first argument is what a decorator without parentheses is given.
inline bool is_decoration(PyObject* const* args, Py_ssize_t nargs) noexcept {
  return nargs > 0 && !PyUnicode_Check(args[0]) && !PyBytes_Check(args[0]) &&
         (PyCallable_Check(args[0]) || Py_TYPE(args[0])->tp_descr_get);
}

// A new annotation with default fields, of the exact type.
Annotation* annotation_new();

struct CallForm;

// An annotation for the user from a call's arguments, or null with an exception set.
PyObject* annotation_from_call(const CallForm& form, PyObject* receiver, PyObject* const* args,
                               Py_ssize_t nargs, PyObject* kwnames);

// annotate() in a given domain: an annotation, or the decorated function or class.
PyObject* annotate_in_domain(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames);

// A new annotation of the exact type with the same fields and nothing open.
Annotation* annotation_clone(const Annotation* original);

// Whether the annotation's domain and level are switched on: what a decorated function is
// instrumented for, beside there being a tool.
bool annotation_wanted(PyObject* annotation) noexcept;

// What the decorators use. None of them raises or leaves an exception set.
void annotation_push(PyObject* annotation) noexcept;
void annotation_pop(PyObject* annotation) noexcept;
annotate::Span annotation_start(PyObject* annotation) noexcept;
void span_end(annotate::Span span) noexcept;
bool listening() noexcept;
bool decided() noexcept;

// As `with annotation:` does.
void annotation_enter(Annotation* annotation) noexcept;
void annotation_exit(Annotation* annotation) noexcept;

// As `async with annotation:` does: the range may be open while its coroutine is suspended.
void annotation_enter_suspended(Annotation* annotation) noexcept;

}  // namespace nvspan::bindings
