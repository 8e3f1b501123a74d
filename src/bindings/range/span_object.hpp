// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The raw type `span`: a start/end range as an object with start() and end().

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

int span_object_add_to_module(PyObject* module);

// span() in a given domain.
PyObject* span_in_domain(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames);

}  // namespace nvspan::bindings
