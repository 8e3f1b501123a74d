// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The rows of a table: its b-tree, and the records in it.

#pragma once

#include "reader/sqlite/pages.hpp"

#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace nvspan::reader {

// A value of a record as it lies there.
struct SqliteValue {
  std::uint64_t type =
      0;  // 0 null, 1..6 integers, 7 real, 8 and 9 the numbers 0 and 1, more: bytes
  const std::uint8_t* at = nullptr;
  std::size_t bytes = 0;

  bool is_null() const noexcept { return type == 0; }
  bool is_integer() const noexcept { return (type >= 1 && type <= 6) || type == 8 || type == 9; }
  bool is_real() const noexcept { return type == 7; }
  bool is_text() const noexcept { return type >= 13 && type % 2 == 1; }
  bool is_blob() const noexcept { return type >= 12 && type % 2 == 0; }

  std::int64_t integer() const noexcept {
    if (type >= 8) return type == 9 ? 1 : 0;
    std::uint64_t value = bytes != 0 && (at[0] & 0x80) != 0 ? ~std::uint64_t{0} : 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | at[i];
    return static_cast<std::int64_t>(value);
  }
  double real() const noexcept {
    const auto bits = static_cast<std::uint64_t>(integer_of_real());
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  std::string_view view() const noexcept { return {reinterpret_cast<const char*>(at), bytes}; }

 private:
  std::int64_t integer_of_real() const noexcept {
    std::uint64_t value = 0;
    for (std::size_t i = 0; i < bytes; ++i) value = value << 8 | at[i];
    return static_cast<std::int64_t>(value);
  }
};

// Walks the rows of the table whose root page is given, in the order of their row ids.
class SqliteRows {
 public:
  SqliteRows(SqlitePages& pages, std::uint32_t root);

  // False at the end. Throws SqliteError where the table is damaged.
  bool next();

  std::int64_t id() const noexcept { return id_; }
  // As many as the record has; valid until next().
  const std::vector<SqliteValue>& values() const noexcept { return values_; }

 private:
  struct Step {
    std::uint32_t page;
    std::uint32_t cell = 0;
  };

  void descend(std::uint32_t page);
  void read_cell(std::uint32_t number, const std::uint8_t* page, std::size_t at);
  void read_record(const std::uint8_t* at, std::size_t bytes);

  SqlitePages& pages_;
  std::vector<Step> above_;  // interior pages
  std::uint32_t leaf_ = 0, cell_ = 0, cells_ = 0;
  std::uint64_t visited_ = 0;
  std::int64_t id_ = 0;
  std::vector<SqliteValue> values_;
  std::vector<std::uint8_t> whole_;  // a record of several pages
};

}  // namespace nvspan::reader
