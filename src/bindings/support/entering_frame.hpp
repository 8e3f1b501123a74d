// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The Python frame that runs a `with` statement, and whether it can be suspended with the range
// open (a coroutine or an asynchronous generator).
//
// contextlib stands between a frame and the object it enters: ExitStack.enter_context and a
// @contextmanager generator are looked through to the frame that uses them.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

struct EnteringFrame {
  const void* key = nullptr;  // the frame that will run the exit; unique while it lives
  bool suspends = false;
};

EnteringFrame entering_frame() noexcept;

// True if a coroutine or an asynchronous generator is on this thread's stack (the innermost 500
// frames of it).
bool inside_coroutine() noexcept;

// The frames of this thread from the innermost outwards, for finding the one that entered.
// Returns how many were written.
int calling_frames(const void** keys, int limit) noexcept;

}  // namespace nvspan::bindings
