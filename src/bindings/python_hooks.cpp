// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/python_hooks.hpp"

#include <iterator>

#include "bindings/call_arguments.hpp"
#include "bindings/module_state.hpp"

namespace nvspan {

namespace {

struct Name {
  const char* name;
  PythonHook hook;
};

constexpr Name names[] = {
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
static_assert(sizeof(PythonHooks) == count * sizeof(PyObject*));

PyObject* set_hooks(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  PyObject* values[count] = {};
  NamedValue wanted[count];
  for (size_t i = 0; i < count; ++i) {
    values[i] = state().hooks.*names[i].hook;  // what was given before need not be given again
    wanted[i] = {names[i].name, &values[i]};
  }
  if (read_named_values("set_hooks", wanted, count, args, nargs, kwnames) < 0) return nullptr;
  for (size_t i = 0; i < count; ++i) {
    if (!PyCallable_Check(values[i])) {
      return PyErr_Format(PyExc_TypeError, "%s must be callable, not %R", names[i].name, values[i]);
    }
  }
  for (size_t i = 0; i < count; ++i) {
    PyObject*& hook = state().hooks.*names[i].hook;
    if (hook != values[i]) hook = Py_NewRef(values[i]);  // the old one stays: a thread may call it
  }
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"set_hooks", as_method(set_hooks), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

PyObject* python_hook(PythonHook hook) {
  PyObject* function = state().hooks.*hook;
  if (!function) PyErr_SetString(PyExc_RuntimeError, "nvspan is not imported to its end");
  return function;
}

int python_hooks_add_to_module(PyObject* module) {
  return PyModule_AddFunctions(module, functions);
}

}  // namespace nvspan
