// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/line_buffer.hpp"

#include <cstddef>
#include <string_view>

namespace nvspan {

// Adds printable text, at most `limit` characters of it, and returns the columns that it takes.
std::size_t add_printable(LineBuffer& line, std::string_view text, std::size_t limit);

}  // namespace nvspan
