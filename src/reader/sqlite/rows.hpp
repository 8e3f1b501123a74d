// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The rows of a table: its b-tree, and the records in it.

#pragma once

#include "reader/sqlite/pages.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

namespace nvspan::reader {

// The type of a value and its place in a record.
struct SqliteValue {
  std::uint64_t type =
      0;  // 0 null, 1..6 integers, 7 real, 8 and 9 the numbers 0 and 1, more: bytes
  std::size_t offset = 0;  // from the first value
  std::size_t bytes = 0;

  bool is_integer() const noexcept { return (type >= 1 && type <= 6) || type == 8 || type == 9; }
  bool is_real() const noexcept { return type == 7; }
  bool is_text() const noexcept { return type >= 13 && type % 2 == 1; }
  bool is_blob() const noexcept { return type >= 12 && type % 2 == 0; }

  // Of the record whose first value is at `content`, which `SqlitePages::padding` bytes follow.
  std::int64_t integer(const std::uint8_t* content) const noexcept {
    if (type >= 8) return type == 9 ? 1 : 0;
    return static_cast<std::int64_t>(word(content)) >> (64 - 8 * bytes);
  }
  double real(const std::uint8_t* content) const noexcept {
    const std::uint64_t bits = word(content);
    double value = 0;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
  std::string_view view(const std::uint8_t* content) const noexcept {
    return {reinterpret_cast<const char*>(content + offset), bytes};
  }

 private:
  std::uint64_t word(const std::uint8_t* content) const noexcept {
    std::uint64_t value = 0;
    std::memcpy(&value, content + offset, sizeof value);
    return __builtin_bswap64(value);  // numbers lie there with their highest byte first
  }
};

// The types of a record's values: most records of a table have one of a few.
struct SqliteShape {
  std::vector<std::uint8_t> header;
  std::vector<SqliteValue> values;
  std::size_t content_bytes = 0;
  std::uint64_t number = 0;  // another for each shape that was met; 0: none
};

// Walks the rows of the table whose root page is given, in the order of their row ids.
class SqliteRows {
 public:
  SqliteRows(SqlitePages& pages, std::uint32_t root);

  // The last row's id: as many rows as there are at most, where none has a number of its own.
  // Throws.
  std::uint64_t last_id();
  // False at the end. Throws SqliteError where the table is damaged.
  bool next();

  std::int64_t id() const noexcept { return id_; }
  // What follows is valid until next().
  const SqliteShape& shape() const noexcept { return *shape_; }
  const std::uint8_t* content() const noexcept { return content_; }
  // Where the shape is kept, for what callers keep beside it.
  std::size_t shape_place() const noexcept {
    return static_cast<std::size_t>(shape_ - shapes_.data());
  }
  static constexpr std::size_t shape_places = 256;

 private:
  struct Step {
    std::uint32_t page;
    std::uint32_t cell = 0;
  };

  void descend(std::uint32_t page);
  void read_cell(std::uint32_t number, const std::uint8_t* page, std::size_t at);
  void read_record(const std::uint8_t* at, std::size_t bytes);
  void read_shape(SqliteShape& shape, const std::uint8_t* at, std::size_t header);

  SqlitePages& pages_;
  std::uint32_t root_;
  std::vector<Step> above_;  // interior pages
  std::uint32_t leaf_ = 0, cell_ = 0, cells_ = 0;
  std::uint64_t visited_ = 0;
  std::int64_t id_ = 0;
  std::array<SqliteShape, shape_places> shapes_;
  const SqliteShape* shape_ = nullptr;
  const std::uint8_t* content_ = nullptr;
  std::uint64_t shapes_met_ = 0;
  std::vector<std::uint8_t> whole_;  // a record of several pages
};

}  // namespace nvspan::reader
