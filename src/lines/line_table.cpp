// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "lines/line_table.hpp"

#include <cstddef>

namespace nvspan::lines {
namespace {

std::uint32_t line_of(std::int64_t line) noexcept {
  return line > 0 && line < 0x7FFFFFFF ? static_cast<std::uint32_t>(line) : 0;
}

std::uint16_t column_of(std::uint64_t column) noexcept {
  return column < record::no_column ? static_cast<std::uint16_t>(column) : record::no_column;
}

// Pairs: how many bytes of code, and how many lines after the pair before it; -128: none.
Position find_by_pairs(std::string_view table, std::int64_t line, std::int64_t unit) noexcept {
  constexpr int no_line = -128;
  std::int64_t end = 0;
  for (std::size_t i = 0; i + 1 < table.size(); i += 2) {
    const auto change = static_cast<signed char>(table[i + 1]);
    if (change != no_line) line += change;
    end += static_cast<unsigned char>(table[i]) / 2;
    if (unit >= end) continue;
    Position position;
    if (change != no_line) position.line = position.end_line = line_of(line);
    return position;
  }
  return Position{};
}

// An entry for each instruction and its caches. Numbers that do not end count as ended.
class Entries {
 public:
  Entries(std::string_view table, std::int64_t line) noexcept : table_(table), line_(line) {}

  Position find(std::int64_t unit) noexcept {
    std::int64_t end = 0;
    while (at_ < table_.size()) {
      const unsigned first = byte();
      const Position position = next(first >> 3 & 15);
      end += (first & 7) + 1;
      if (unit < end) return position;
    }
    return Position{};
  }

 private:
  unsigned byte() noexcept {
    return at_ < table_.size() ? static_cast<unsigned char>(table_[at_++]) : 0;
  }
  std::uint64_t number() noexcept {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 36; shift += 6) {
      const unsigned more = byte();
      value |= std::uint64_t{more & 63} << shift;
      if ((more & 64) == 0) break;
    }
    return value;
  }
  std::int64_t signed_number() noexcept {
    const std::uint64_t value = number();
    const auto size = static_cast<std::int64_t>(value >> 1);
    return (value & 1) != 0 ? -size : size;
  }

  Position next(unsigned kind) noexcept {
    constexpr unsigned without_line = 15, long_form = 14, without_columns = 13, one_line = 10;
    Position position;
    if (kind == without_line) return position;
    if (kind == long_form) {
      line_ += signed_number();
      position.end_line = line_of(line_ + static_cast<std::int64_t>(number() & 0x7FFFFFFF));
      const std::uint64_t column = number();
      const std::uint64_t end_column = number();
      if (column != 0) position.column = column_of(column - 1);
      if (end_column != 0) position.end_column = column_of(end_column - 1);
      position.line = line_of(line_);
      return position;
    }
    if (kind == without_columns) {
      line_ += signed_number();
    } else if (kind >= one_line) {
      line_ += kind - one_line;
      position.column = column_of(byte());
      position.end_column = column_of(byte());
    } else {
      const unsigned second = byte();
      position.column = column_of(kind << 3 | second >> 4);
      position.end_column = column_of(std::uint64_t{position.column} + (second & 15));
    }
    position.line = position.end_line = line_of(line_);
    return position;
  }

  std::string_view table_;
  std::int64_t line_;
  std::size_t at_ = 0;
};

}  // namespace

Position find_position(std::string_view table, std::int32_t first_line, std::int64_t unit,
                       bool has_columns) noexcept {
  if (unit < 0) unit = 0;
  return has_columns ? Entries(table, first_line).find(unit)
                     : find_by_pairs(table, first_line, unit);
}

}  // namespace nvspan::lines
