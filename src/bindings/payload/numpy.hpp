// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// numpy's types as schemas. numpy itself is never imported from here.

#include "bindings/support/py.hpp"
#include "annotate/payload/schema.hpp"

namespace nvspan::bindings {

// The schema of one element of that dtype; null with a TypeError that says what has no binary form.
// Roles and meanings that numpy_dtype() put into it are part of the schema.
const annotate::Schema* schema_of_dtype(PyObject* dtype);

// A structured dtype whose fields are numbers and strings, as events and counter groups need it:
// with these schema flags, its fields not schemas of their own. `time_domain` is that of its
// timestamps; 0: none. Fields of a counter group are marked as counters.
const annotate::Schema* flat_schema_of_dtype(PyObject* dtype, uint64_t schema_flags,
                                             uint64_t time_domain);

// Reads a CounterSemantics. 0, or -1 with an exception set.
int counter_meaning_from_object(PyObject* semantics, annotate::CounterMeaning& meaning);

// True if every number in it is in this machine's byte order.
bool dtype_is_native(PyObject* dtype);

// The same dtype in this machine's byte order; null with an exception set.
py_ref native_dtype(PyObject* dtype);

}  // namespace nvspan::bindings
