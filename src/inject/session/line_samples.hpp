// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "lines/interpreter.hpp"
#include "lines/sampler.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::inject {

// Called for each frame of a stack, the innermost first.
using FrameTaker = void (*)(void* context, const lines::SeenFrame* frame);

// The sampler of this process, whose samples go into the session's recording. The extension module
// that knows the interpreter calls these, one thread at a time, which holds the GIL.

// Null, or why it cannot sample here. The caller's stack is given to `take`, as the sampler sees
// it, to be compared with what Python says; the innermost frame with the C function that it called.
const char* check_sampler(const lines::Interpreter& interpreter, FrameTaker take, void* context);
// `period` in ns; 0: by what it costs; -1: it waits until another process asks for samples. Null,
// or why it cannot.
const char* start_sampler(const lines::Interpreter& interpreter, std::int64_t period);
// Stops it, so that the process can fork, and lets it go on, here or in the child.
void pause_sampler() noexcept;
void resume_sampler(bool in_child) noexcept;
void stop_sampler() noexcept;
// The process ends: a daemon thread of Python may not survive that it takes longer.
void abandon_sampler() noexcept;

}  // namespace nvspan::inject
