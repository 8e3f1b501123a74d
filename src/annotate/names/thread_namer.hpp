// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What tells nvspan's own recorder the name that the language has for a thread. The recorder asks
// once, in a thread's first event, so that programs need name nothing and pay for nothing.

#include <cstddef>

#include "annotate/tool/tool_table.hpp"

namespace nvspan::annotate {

// Writes the calling thread's name, UTF-8 without a zero, into `room` bytes at `name` and returns
// its size; 0: it has none, or it cannot be asked now. It never waits, and runs none of the
// program's code.
using ThreadNamer = size_t (*)(char* name, size_t room);

// To be called before a tool is attached.
void set_thread_namer(ThreadNamer namer) noexcept;

// Gives the namer to a tool that takes one.
void send_thread_namer(const ToolTable& tool) noexcept;

}  // namespace nvspan::annotate
