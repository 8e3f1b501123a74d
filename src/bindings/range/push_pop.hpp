// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// mark, push_range, pop_range, start_range, end_range: of the module and of Domain.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

int ranges_add_to_module(PyObject* module);

PyObject* domain_mark(PyObject* domain, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* domain_push_range(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                            PyObject* kwnames);
PyObject* domain_pop_range(PyObject* domain, PyObject*);
PyObject* domain_start_range(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames);
PyObject* domain_end_range(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames);

}  // namespace nvspan::bindings
