// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The raw type `device_range`, and start_device_range and end_device_range.

#include "bindings/support/py.hpp"
#include "cuda/device_ranges.hpp"

namespace nvspan::bindings {

struct EventFields;

// Begins a device range with attributes that are not lazy, with the GIL let go of. A reference, or
// null where nobody listens or nothing could be placed. Nothing raises.
cuda::DeviceRange* begin_device_range(EventFields& fields, const annotate::ToolTable* tool,
                                      PyObject* stream, const cuda::Options& options) noexcept;

int device_range_object_add_to_module(PyObject* module);

// device_range() in a given domain.
PyObject* device_range_in_domain(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                                 PyObject* kwnames);

}  // namespace nvspan::bindings
