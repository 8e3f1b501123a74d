// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Turns the profile on and off. What the interpreter reports through is one of two backends:
// sys.monitoring from CPython 3.12 on, the profile function of each thread before.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

// Adds _profile_start and _profile_stop. 0, or -1 with an exception set.
int profile_add_to_module(PyObject* module);

// Begins to collect if a profile was enabled while nobody listened and somebody does now.
void profile_tool_changed(bool possible) noexcept;

// The backend.

// Takes what collecting needs and may be taken by another. 0, or -1 with an exception set.
int profile_backend_claim();

// Collects from now on, in all threads. 0, or -1 with an exception set.
int profile_backend_begin();

// Collects no more. Threads that have ranges open close them at their next event. Called with the
// session ended and the ranges of the calling thread closed.
void profile_backend_end() noexcept;

}  // namespace nvspan::bindings
