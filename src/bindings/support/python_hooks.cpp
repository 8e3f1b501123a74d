// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/support/python_hooks.hpp"

#include <algorithm>
#include <iterator>

#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

namespace {

struct HookName {
  const char* name;
  PythonHook hook;
};

constexpr HookName names[] = {
#define NVSPAN_PYTHON_HOOK(name) {#name, &PythonHooks::name},
    NVSPAN_PYTHON_HOOKS(NVSPAN_PYTHON_HOOK)
#undef NVSPAN_PYTHON_HOOK
};

PyObject* set_hook_loader(PyObject*, PyObject* load) {
  if (!PyCallable_Check(load)) {
    return PyErr_Format(PyExc_TypeError, "load must be callable, not %R", load);
  }
  state().hook_loader.store(Py_NewRef(load));
  Py_RETURN_NONE;
}

PyMethodDef hook_functions[] = {{"set_hook_loader", set_hook_loader, METH_O, nullptr},
                                {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* python_hook(PythonHook hook) {
  PythonFunction& kept = state().hooks.*hook;
  if (PyObject* function = kept.load(std::memory_order_acquire)) return function;
  PyObject* load = state().hook_loader.load(std::memory_order_acquire);
  if (!load) {
    PyErr_SetString(PyExc_RuntimeError, "nvspan is not fully imported");
    return nullptr;
  }
  const auto is_it = [hook](const HookName& named) { return named.hook == hook; };
  const char* name = std::find_if(std::begin(names), std::end(names), is_it)->name;
  const py_ref text = py_ref::steal(PyUnicode_FromString(name));
  py_ref function = py_ref::steal(text ? PyObject_CallOneArg(load, text.get()) : nullptr);
  if (!function) return nullptr;
  if (!PyCallable_Check(function.get())) {
    PyErr_Format(PyExc_TypeError, "%s must be callable, not %R", name, function.get());
    return nullptr;
  }
  // Kept for good: of two threads that load it at once, each may be calling its own.
  PyObject* loaded = function.release();
  kept.store(loaded, std::memory_order_release);
  return loaded;
}

int python_hooks_add_to_module(PyObject* module) {
  return PyModule_AddFunctions(module, hook_functions);
}

}  // namespace nvspan::bindings
