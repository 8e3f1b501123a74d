// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names of OS threads. They are kept, because a tool that attaches later wants them too.

#include <cstddef>
#include <cstdint>
#include <string>

#include "annotate/tool/tool_table.hpp"

namespace nvspan::annotate {

// The calling thread's id as the operating system and NVTX know it.
uint32_t native_thread_id() noexcept;

// Keeps the name and sends it to the tool that is attached. Any thread.
void name_thread(uint32_t native_id, const std::string& name);

// The thread has ended: its id may be given to another.
void forget_thread(uint32_t native_id) noexcept;

// Sends all names to a tool that has just been attached.
void send_thread_names(const ToolTable& tool) noexcept;

size_t named_threads() noexcept;
bool has_thread_name(uint32_t native_id) noexcept;

// What tells nvspan's own recorder the name that the language has for a thread. The recorder asks
// once, in a thread's first event, so that programs need name nothing and pay for nothing.
// Writes the calling thread's name, UTF-8 without a zero, into `room` bytes at `name` and returns
// its size; 0: it has none, or it cannot be asked now. It never waits, and runs none of the
// program's code.
using ThreadNamer = size_t (*)(char* name, size_t room);

// To be called before a tool is attached.
void set_thread_namer(ThreadNamer namer) noexcept;

// Gives the namer to a tool that takes one.
void send_thread_namer(const ToolTable& tool) noexcept;

}  // namespace nvspan::annotate
