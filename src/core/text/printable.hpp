// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/text/line_buffer.hpp"

#include <cstddef>
#include <string_view>

namespace nvspan::core {

// Adds printable text, at most `limit` characters of it, and returns the columns that it takes.
std::size_t add_printable(LineBuffer& line, std::string_view text, std::size_t limit);

// Likewise, in at most so many columns: of a longer text `mark`, which takes one column, stands for
// the middle. What tells names apart is often at their end.
std::size_t add_shortened(LineBuffer& line, std::string_view text, std::size_t columns,
                          std::string_view mark);

}  // namespace nvspan::core
