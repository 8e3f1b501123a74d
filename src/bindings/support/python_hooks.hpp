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
#define NVSPAN_PYTHON_HOOKS(X)  \
  X(annotate_class)             \
  X(carried_over)               \
  X(color_from_object)          \
  X(copy_callable)              \
  X(counter_meaning)            \
  X(decorate)                   \
  X(decorate_with_device_range) \
  X(decorate_with_torch_range)  \
  X(domain_handle)              \
  X(dtype_layout)               \
  X(event_batch)                \
  X(fields_layout)              \
  X(find_torch_streams)         \
  X(generate)                   \
  X(get_counter)                \
  X(number_column)              \
  X(reduce_callable)            \
  X(registered_string)          \
  X(scalar)                     \
  X(stream_of)                  \
  X(wait_for_device_range)

struct PythonHooks {
#define NVSPAN_PYTHON_HOOK(name) PythonFunction name;
  NVSPAN_PYTHON_HOOKS(NVSPAN_PYTHON_HOOK)
#undef NVSPAN_PYTHON_HOOK
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
