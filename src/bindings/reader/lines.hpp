// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Samples of Python's stacks: nvspan._reader.Lines.

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

namespace nvspan::bindings {

void bind_lines(pybind11::module_& module);

}  // namespace nvspan::bindings
