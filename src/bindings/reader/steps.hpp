// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Steps as results of nvspan._reader.

#pragma once

#include "bindings/support/py.hpp"

#include <pybind11/pybind11.h>

#include "reader/steps/steps.hpp"

namespace nvspan::bindings {

// `roles` is a dict from pairs of numbers, of a domain and a name, to roles; `phases` are the names
// of the phases, of the time outside them, and of that in which the CPU waits for the GPU.
reader::StepOptions step_options(const reader::Recording& recording, const pybind11::dict& roles,
                                 const pybind11::list& phases);

// A FoundSteps.
pybind11::object found_steps(reader::Steps found, const pybind11::list& phases);

}  // namespace nvspan::bindings
