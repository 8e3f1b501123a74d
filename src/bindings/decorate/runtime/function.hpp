// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

// A new function that is equal to `original` but runs `code`. It shares no dictionary with it, and
// its `__wrapped__` is `original`. Null with an exception set.
py_ref function_like(PyFunctionObject* original, PyObject* code);

// Assigns `function.__code__` and keeps calls of it specialisable. 0, or -1 with an exception set.
int function_set_code(PyFunctionObject* function, PyObject* code);

}  // namespace nvspan::bindings
