// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/decorate/suspended/span.hpp"

#include "bindings/annotation/annotation.hpp"
#include "bindings/decorate/runtime/builtins.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {
namespace {

struct OpenSpan {
  PyObject_HEAD annotate::Span span;
};

void open_span_end(PyObject* self) noexcept {
  auto* open = reinterpret_cast<OpenSpan*>(self);
  span_end(std::exchange(open->span, annotate::Span{}));
}

void open_span_dealloc(PyObject* self) {
  open_span_end(self);
  free_object(self);
}

// END(token): token is what START answered, or None if it never ran.
PyObject* end_span(PyObject*, PyObject* token) {
  if (Py_IS_TYPE(token, state().decorate.open_span_type)) open_span_end(token);
  Py_RETURN_NONE;
}

PyMethodDef suspended_span_functions[] = {
    {"__nvspan_end__", end_span, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* open_span_new(PyObject* annotation) {
  auto* open = reinterpret_cast<OpenSpan*>(
      state().decorate.open_span_type->tp_alloc(state().decorate.open_span_type, 0));
  if (open == nullptr) return nullptr;
  open->span = annotation != nullptr ? annotation_start(annotation) : annotate::Span{};
  return reinterpret_cast<PyObject*>(open);
}

int decorated_span_init() {
  state().decorate.open_span_type =
      make_type("nvspan._core._OpenSpan", sizeof(OpenSpan), Py_TPFLAGS_DISALLOW_INSTANTIATION,
                {{Py_tp_dealloc, slot(open_span_dealloc)}});
  return state().decorate.open_span_type ? add_builtins(suspended_span_functions) : -1;
}

}  // namespace nvspan::bindings
