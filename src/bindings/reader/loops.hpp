// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The loop of a run: nvspan._reader.Loops and LoopSteps.

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

namespace nvspan::bindings {

void bind_loops(pybind11::module_& module);

}  // namespace nvspan::bindings
