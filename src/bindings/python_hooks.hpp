// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions of nvspan's Python half that the core calls. The package hands them over once, when
// it is imported, by `_core.set_hooks(...)`: the core imports none of its modules.

#include "bindings/py.hpp"

namespace nvspan {

// Each is called as its name says; python/nvspan/_adapters/hooks.py has what they are.
struct PythonHooks {
  PyObject* annotate_class;
  PyObject* carried_over;
  PyObject* color_from_object;
  PyObject* copy_callable;
  PyObject* decorate;
  PyObject* decorate_with_device_range;
  PyObject* decorate_with_torch_range;
  PyObject* domain_handle;
  PyObject* find_torch_streams;
  PyObject* generate;
  PyObject* get_counter;
  PyObject* reduce_callable;
  PyObject* registered_string;
  PyObject* scalar;
  PyObject* stream_of;
  PyObject* wait_for_device_range;
};

using PythonHook = PyObject* PythonHooks::*;

// A hook, borrowed; null with an exception set while the package is only half imported.
PyObject* python_hook(PythonHook hook);

// Calls a hook; a new reference or null with an exception set.
template <class... Arguments>
PyObject* call_hook(PythonHook hook, Arguments... arguments) {
  PyObject* function = python_hook(hook);
  if (!function) return nullptr;
  PyObject* stack[] = {nullptr, arguments...};
  return PyObject_Vectorcall(function, stack + 1,
                             sizeof...(arguments) | PY_VECTORCALL_ARGUMENTS_OFFSET, nullptr);
}

// Adds `set_hooks`. 0, or -1 with an exception set.
int python_hooks_add_to_module(PyObject* module);

}  // namespace nvspan
