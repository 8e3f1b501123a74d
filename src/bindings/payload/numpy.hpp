// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Schemas of numpy's dtypes, which python/nvspan/_adapters/numpy.py describes as layouts. numpy
// itself is never imported from here.

#include "bindings/support/py.hpp"
#include "annotate/payload/schema.hpp"

namespace nvspan::bindings {

// The schema of one element of that dtype; null with a TypeError that says what has no binary form.
// Roles and meanings that numpy_dtype() put into it are part of the schema.
const annotate::Schema* schema_of_dtype(PyObject* dtype);

// The schema of a layout, as fields_layout() returns it; null with an exception set.
const annotate::Schema* schema_of_layout(PyObject* layout);

// The schema of a counter group, whose fields are counters; null with an exception set.
const annotate::Schema* counter_group_schema(PyObject* dtype);

// Reads a CounterSemantics. 0, or -1 with an exception set.
int counter_meaning_from_object(PyObject* semantics, annotate::CounterMeaning& meaning);

// True if every number in it is in this machine's byte order.
bool dtype_is_native(PyObject* dtype);

// The same dtype in this machine's byte order; null with an exception set.
py_ref native_dtype(PyObject* dtype);

}  // namespace nvspan::bindings
