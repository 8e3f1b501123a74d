// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A table of another program as columns, on its way into a recording.

#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nvspan::reader {

// Texts without repetitions, numbered in the order of their coming.
class ImportTexts {
 public:
  std::uint32_t number(std::string_view text);
  const std::deque<std::string>& all() const noexcept { return texts_; }
  void clear();

 private:
  std::deque<std::string> texts_;
  std::unordered_map<std::string_view, std::uint32_t> numbers_;
};

enum class ImportKind : char { integer = 'i', real = 'r', text = 't', blob = 'b' };

class ImportColumn {
 public:
  ImportColumn(std::string name, ImportKind kind) : name(std::move(name)), kind(kind) {}

  // The value of a row after all that have one. A text or blob is a number of `texts`.
  void add(std::size_t row, std::int64_t value) {
    if (kind == ImportKind::real) {
      add_to(reals, row, static_cast<double>(value));
    } else {
      add_to(integers, row, value);
    }
  }
  void add(std::size_t row, double value) { add_to(reals, row, value); }
  // Room for so many rows, if any has a value.
  void expect(std::size_t rows) noexcept { expected_ = rows; }
  // The rows from the last one on have no value.
  void finish(std::size_t rows);

  bool has(std::size_t row) const noexcept {
    return !empty() && (present.empty() || present[row] != 0);
  }
  // No row has a value; then there are no values.
  bool empty() const noexcept { return integers.empty() && reals.empty(); }
  // No row, and no text; memory stays for the next ones.
  void clear();
  // Vectors that reorder() needs, kept by whoever calls it often.
  struct Spare {
    std::vector<std::int64_t> integers;
    std::vector<double> reals;
    std::vector<std::uint8_t> present;
  };
  void reorder(const std::vector<std::uint32_t>& rows, Spare& spare);

  std::string name;
  ImportKind kind;
  std::vector<std::int64_t> integers;  // of integers and texts; 0 where there is none
  std::vector<double> reals;
  std::vector<std::uint8_t> present;  // empty: every row has a value, or none has
  ImportTexts texts;

 private:
  template <typename T>
  void add_to(std::vector<T>& values, std::size_t row, T value) {
    if (values.empty()) values.reserve(expected_);
    if (values.size() != row) leave_out(values, row);
    values.push_back(value);
    if (!present.empty()) present.push_back(1);
  }
  template <typename T>
  void leave_out(std::vector<T>& values, std::size_t row);

  std::size_t expected_ = 0;
};

// Rows that have the same in some columns, from `begin` to `end`.
struct ImportGroup {
  std::size_t begin = 0, end = 0;
  std::vector<std::int64_t> keys;  // of a row without a value 0
  std::uint64_t given = 0;         // a bit for each key and each column asked for: it has a value
};

class ImportTable {
 public:
  ImportColumn& add_column(std::string name, ImportKind kind);
  // Null: there is none of this name.
  ImportColumn* find(std::string_view name) noexcept;
  // Throws std::out_of_range.
  ImportColumn& at(std::string_view name);
  const std::deque<ImportColumn>& columns() const noexcept { return columns_; }
  ImportColumn& column(std::size_t place) { return columns_[place]; }
  // No rows; columns stay as they are.
  void clear();

  // Puts rows with the same keys, and with values in the same of the columns `given`, together;
  // they keep their order. Columns that do not exist have no values. At most 64 of both together.
  // The columns of keys are empty then.
  std::vector<ImportGroup> group(const std::vector<std::string>& keys,
                                 const std::vector<std::string>& given);

  // Adds or fills the column `name`: what `values` has for the number in `column`, `ids` in the
  // same place; `otherwise` where there is none. Of equal ids the first counts.
  void look_up(const std::string& name, const std::string& column,
               const std::vector<std::int64_t>& ids, const std::vector<std::int64_t>& values,
               std::int64_t otherwise);

  // Puts `by` in the place of a value, and of no value; a column that does not exist is made of it.
  void replace(const std::string& column, std::int64_t value, std::int64_t by);

  std::size_t rows = 0;

 private:
  std::deque<ImportColumn> columns_;
  ImportColumn::Spare spare_;
  std::vector<std::uint32_t> group_of_, order_;
};

}  // namespace nvspan::reader
