// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/decorate/runtime/function.hpp"

namespace nvspan::bindings {
namespace {

// From 3.13 on the interpreter specialises only calls of functions whose version is known: that of
// their code, and only if a `def` statement made them and nothing about them was assigned since.
// What types.FunctionType makes has none, nor has a function whose `__code__` was assigned, so that
// each call takes the slow path. The version promises the code and the presence of defaults, so it
// may be given to a function that is equal in both to one that has it.
#if PY_VERSION_HEX >= 0x030D0000 && !defined(Py_GIL_DISABLED)
bool has_version_of_code(PyFunctionObject* function) noexcept {
  auto* code = reinterpret_cast<PyCodeObject*>(function->func_code);
  return code->co_version != 0 && function->func_version == code->co_version;
}

void take_version_of_code(PyFunctionObject* function) noexcept {
  function->func_version = reinterpret_cast<PyCodeObject*>(function->func_code)->co_version;
}
#else
bool has_version_of_code(PyFunctionObject*) noexcept { return false; }
void take_version_of_code(PyFunctionObject*) noexcept {}
#endif

void share(PyObject*& target, PyObject* source) noexcept {
  Py_XINCREF(source);
  Py_XSETREF(target, source);
}

}  // namespace

py_ref function_like(PyFunctionObject* original, PyObject* code) {
  py_ref decorated = py_ref::steal(
      PyFunction_NewWithQualName(code, original->func_globals, original->func_qualname));
  if (!decorated) return {};
  auto* function = reinterpret_cast<PyFunctionObject*>(decorated.get());
  if (original->func_defaults != nullptr &&
      PyFunction_SetDefaults(decorated.get(), original->func_defaults) < 0) {
    return {};
  }
  if (original->func_kwdefaults != nullptr) {
    py_ref copy = py_ref::steal(PyDict_Copy(original->func_kwdefaults));
    if (!copy || PyFunction_SetKwDefaults(decorated.get(), copy.get()) < 0) return {};
  }
  if (original->func_closure != nullptr &&
      PyFunction_SetClosure(decorated.get(), original->func_closure) < 0) {
    return {};
  }
  share(function->func_name, original->func_name);
  share(function->func_doc, original->func_doc);
  share(function->func_module, original->func_module);
  share(function->func_annotations, original->func_annotations);
#if PY_VERSION_HEX >= 0x030C0000
  share(function->func_typeparams, original->func_typeparams);
#endif
#if PY_VERSION_HEX >= 0x030E0000
  share(function->func_annotate, original->func_annotate);
#endif
  py_ref attributes = py_ref::steal(
      original->func_dict != nullptr ? PyDict_Copy(original->func_dict) : PyDict_New());
  if (!attributes || PyDict_SetItemString(attributes.get(), "__wrapped__",
                                          reinterpret_cast<PyObject*>(original)) < 0) {
    return {};
  }
  Py_XSETREF(function->func_dict, attributes.release());
  if (has_version_of_code(original)) take_version_of_code(function);
  return decorated;
}

int function_set_code(PyFunctionObject* function, PyObject* code) {
  const bool specialisable = has_version_of_code(function);
  // The attribute, not the field: watchers and audit hooks see it.
  if (PyObject_SetAttrString(reinterpret_cast<PyObject*>(function), "__code__", code) < 0) {
    return -1;
  }
  if (specialisable) take_version_of_code(function);
  return 0;
}

}  // namespace nvspan::bindings
