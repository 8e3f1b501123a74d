// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranks by steps in bins, as Python gets them.

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

namespace nvspan::bindings {

void bind_rank_heat(pybind11::module_& module);

}  // namespace nvspan::bindings
