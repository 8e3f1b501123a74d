// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

// Adds `_core.AnnotatedCallable`, the decorated form of callables that are no Python functions:
// builtins, instances with `__call__`, lru_cache objects. It passes for what it wraps: attributes,
// `__class__`, equality, hash, text, binding as a method. python/nvspan/_decorate adds the
// special methods that the interpreter looks up in the type. 0, or -1 with an exception set.
int decorated_callable_add_to_module(PyObject* module);

}  // namespace nvspan::bindings
