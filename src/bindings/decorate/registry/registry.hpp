// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The decorated functions of the interpreter, and the switch between their two bodies.
//
// A decorated function is a genuine function. While nothing listens its `__code__` is that of the
// original, so that it costs nothing; while something listens it is a generated one
// (site.hpp). Until the first NVTX call of the process has decided whether there is a
// tool, it is the generated one.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

// Adds what python/nvspan/_decorate needs. 0, or -1 with an exception set.
int decorated_add_to_module(PyObject* module);

// Switches all decorated functions. A function that cannot be switched is reported as unraisable
// and stays as it was. 0, or -1 with an exception set.
int decorated_set_listening(PyObject* module, bool on);

}  // namespace nvspan::bindings
