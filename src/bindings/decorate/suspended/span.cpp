// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/decorate/suspended/span.hpp"

#include "bindings/annotation/annotation.hpp"
#include "bindings/decorate/runtime/builtins.hpp"
#include "bindings/support/module_state.hpp"

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
  PyTypeObject* type = Py_TYPE(self);
  open_span_end(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyType_Slot open_span_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(open_span_dealloc)},
    {0, nullptr},
};

PyType_Spec open_span_spec = {"nvspan._core._OpenSpan", sizeof(OpenSpan), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                              open_span_slots};

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

int decorated_span_add_to_module(PyObject* module) {
  PyObject* type = PyType_FromModuleAndSpec(module, &open_span_spec, nullptr);
  if (type == nullptr) return -1;
  state().decorate.open_span_type = reinterpret_cast<PyTypeObject*>(type);
  return add_builtins(suspended_span_functions);
}

}  // namespace nvspan::bindings
