// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/support/python_hooks.hpp"

#include <iterator>

#include "bindings/support/call_arguments.hpp"
#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

namespace {

struct HookName {
  const char* name;
  PythonHook hook;
};

constexpr HookName names[] = {
    {"annotate_class", &PythonHooks::annotate_class},
    {"carried_over", &PythonHooks::carried_over},
    {"color_from_object", &PythonHooks::color_from_object},
    {"copy_callable", &PythonHooks::copy_callable},
    {"decorate", &PythonHooks::decorate},
    {"decorate_with_device_range", &PythonHooks::decorate_with_device_range},
    {"decorate_with_torch_range", &PythonHooks::decorate_with_torch_range},
    {"domain_handle", &PythonHooks::domain_handle},
    {"find_torch_streams", &PythonHooks::find_torch_streams},
    {"generate", &PythonHooks::generate},
    {"get_counter", &PythonHooks::get_counter},
    {"reduce_callable", &PythonHooks::reduce_callable},
    {"registered_string", &PythonHooks::registered_string},
    {"scalar", &PythonHooks::scalar},
    {"stream_of", &PythonHooks::stream_of},
    {"wait_for_device_range", &PythonHooks::wait_for_device_range},
};
constexpr size_t count = std::size(names);
static_assert(sizeof(PythonHooks) == count * sizeof(PythonFunction));

PyObject* set_hooks(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  PyObject* values[count] = {};
  NamedValue wanted[count];
  for (size_t i = 0; i < count; ++i) {
    // What was given before need not be given again.
    values[i] = (state().hooks.*names[i].hook).load();
    wanted[i] = {names[i].name, &values[i]};
  }
  if (read_named_values("set_hooks", wanted, count, args, nargs, kwnames) < 0) return nullptr;
  for (size_t i = 0; i < count; ++i) {
    if (!PyCallable_Check(values[i])) {
      return PyErr_Format(PyExc_TypeError, "%s must be callable, not %R", names[i].name, values[i]);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    PythonFunction& hook = state().hooks.*names[i].hook;
    if (hook.load() != values[i]) hook.store(Py_NewRef(values[i]));  // the old one may be running
  }
  Py_RETURN_NONE;
}

PyObject* set_hook_loader(PyObject*, PyObject* load) {
  if (!PyCallable_Check(load)) {
    return PyErr_Format(PyExc_TypeError, "load must be callable, not %R", load);
  }
  state().hook_loader.store(Py_NewRef(load));
  Py_RETURN_NONE;
}

PyMethodDef hook_functions[] = {
    {"set_hook_loader", set_hook_loader, METH_O, nullptr},
    {"set_hooks", as_method(set_hooks), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* python_hook(PythonHook hook) {
  const PythonFunction& kept = state().hooks.*hook;
  if (PyObject* function = kept.load(std::memory_order_acquire)) return function;
  PyObject* load = state().hook_loader.load(std::memory_order_acquire);
  if (!load) {
    PyErr_SetString(PyExc_RuntimeError, "nvspan is not fully imported");
    return nullptr;
  }
  const py_ref done = py_ref::steal(PyObject_CallNoArgs(load));
  if (!done) return nullptr;
  PyObject* function = kept.load(std::memory_order_acquire);
  if (!function) PyErr_SetString(PyExc_RuntimeError, "set_hooks() was not called");
  return function;
}

int python_hooks_add_to_module(PyObject* module) {
  return PyModule_AddFunctions(module, hook_functions);
}

}  // namespace nvspan::bindings
