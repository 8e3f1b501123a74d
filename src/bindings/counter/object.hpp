// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The raw types `Counter`, `Int64Counter`, `Float64Counter`, `ExtCounter`.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

int counter_object_add_to_module(PyObject* module);

// A `scope=` argument: None, a path (str, bytes) or a PredefinedScope. 0, or -1 with a TypeError.
// `path` is a bytes object, or null for a predefined scope.
int scope_from_object(PyObject* value, py_ref& path, uint64_t& predefined);

// A member of one of our enums, or its number. 0, or -1 with a TypeError that names `argument`.
int number_of_choice(PyObject* value, const char* argument, uint64_t& number);

}  // namespace nvspan::bindings
