// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions of nvspan's Python half that the core calls. The core imports none of its modules:
// the package gives it a function that loads each by its name here, when it is first needed, by
// `_core.set_hook_loader(load)`.

#include "bindings/support/py.hpp"

#include <atomic>

namespace nvspan::bindings {

using PythonFunction = std::atomic<PyObject*>;  // replaced while threads call it

// python/nvspan/_adapters/hooks.py has what they are.
struct PythonHooks {
  PythonFunction annotate_class;
  PythonFunction carried_over;
  PythonFunction color_from_object;
  PythonFunction copy_callable;
  PythonFunction counter_meaning;
  PythonFunction decorate;
  PythonFunction decorate_with_device_range;
  PythonFunction decorate_with_torch_range;
  PythonFunction domain_handle;
  PythonFunction dtype_layout;
  PythonFunction event_batch;
  PythonFunction fields_layout;
  PythonFunction find_torch_streams;
  PythonFunction generate;
  PythonFunction get_counter;
  PythonFunction number_column;
  PythonFunction reduce_callable;
  PythonFunction registered_string;
  PythonFunction scalar;
  PythonFunction stream_of;
  PythonFunction wait_for_device_range;
};

using PythonHook = PythonFunction PythonHooks::*;

// A hook, borrowed; null with an exception set.
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

// Adds `set_hook_loader`. 0, or -1 with an exception set.
int python_hooks_add_to_module(PyObject* module);

}  // namespace nvspan::bindings
