// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The raw type `DeviceRangeHandle`: one range on its way through the GPU.

#include "bindings/support/py.hpp"
#include "cuda/device_ranges.hpp"

namespace nvspan::bindings {

int device_handle_add_to_module(PyObject* module);

// Takes over the reference to `range`; null gives the one handle that stands for no range.
PyObject* device_handle_new(cuda::DeviceRange* range);

bool is_device_handle(PyObject* object) noexcept;

// Null for a handle that stands for no range.
cuda::DeviceRange* range_of_handle(PyObject* handle) noexcept;

// Ends the range of a handle, with the GIL let go of. Nothing raises.
void end_device_handle(PyObject* handle, const cuda::Target* other) noexcept;

}  // namespace nvspan::bindings
