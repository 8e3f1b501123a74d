// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What generated code calls (python/nvspan/_decorate/codegen.py) is found among the interpreter's
// builtins, under names of the form `__nvspan_enter__`.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

// Adds functions, under the names in `table`, which must be static. 0, or -1 with an exception
// set.
int add_builtins(PyMethodDef* table);

// Puts all of the names into the dictionary that a function has for its builtins, if it is not the
// usual one. 0, or -1 with an exception set.
int provide_builtins(PyObject* builtins);

}  // namespace nvspan::bindings
