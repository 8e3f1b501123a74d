// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>

namespace nvspan::inject {

// The name that the calling thread has in the system, if it is one of its own: the main thread is
// called as the program is, and threads inherit the name of the thread that makes them. Returns the
// size, at most `room`; 0: none.
std::size_t system_thread_name(char* name, std::size_t room) noexcept;

}  // namespace nvspan::inject
