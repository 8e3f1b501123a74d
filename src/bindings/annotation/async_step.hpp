// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// `async with annotate(...)`: what `__aenter__` and `__aexit__` return, done at its first
// resumption.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

PyObject* annotate_aenter(PyObject* annotation, PyObject*);
PyObject* annotate_aexit(PyObject* annotation, PyObject* const* args, Py_ssize_t nargs);

// Makes the type. 0, or -1 with an exception set.
int async_step_init();

}  // namespace nvspan::bindings
