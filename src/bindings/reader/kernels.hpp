// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Kernels as Python gets them: nvspan._reader.kernels().

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

namespace nvspan::bindings {

void bind_kernels(pybind11::module_& module);

}  // namespace nvspan::bindings
