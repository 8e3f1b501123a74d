// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/sample_format.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::lines {

// Where in the source an instruction is.
struct Position {
  std::uint32_t line = 0;  // 0: of no line
  std::uint32_t end_line = 0;
  std::uint16_t column = record::no_column;
  std::uint16_t end_column = record::no_column;

  bool operator==(const Position& other) const noexcept {
    return line == other.line && end_line == other.end_line && column == other.column &&
           end_column == other.end_column;
  }
};

// Of the instruction with number `unit`, by a code object's table. `has_columns`: the table is that
// of 3.11 and later, else of 3.10.
Position find_position(std::string_view table, std::int32_t first_line, std::int64_t unit,
                       bool has_columns) noexcept;

}  // namespace nvspan::lines
