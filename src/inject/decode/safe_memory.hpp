// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Reading what the program points at without trusting the pointer.

#pragma once

#include "core/memory/page_pool.hpp"

#include <cstddef>

namespace nvspan::inject {

// False: not all of it is readable. (Where the kernel refuses to tell, it is read directly.)
bool read_memory(const void* address, void* out, std::size_t size) noexcept;

enum class StringStatus { complete, absent, unreadable, cut };

// Replaces `out` with the text at `address`, up to its zero byte or `limit` bytes.
StringStatus read_string(const char* address, std::size_t limit, core::PoolString& out);

}  // namespace nvspan::inject
