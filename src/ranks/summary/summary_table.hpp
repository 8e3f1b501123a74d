// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Rows of integers and texts beside the figures of names: processes, steps, collectives, and what
// else is known of each of them. Tables of one name have the same columns.

#pragma once

#include "core/text/text_table.hpp"
#include "ranks/summary/packed.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvspan::ranks {

// The texts of a summary, in the order of their bytes: place[id] of each id.
using TextPlaces = std::vector<std::uint32_t>;

class SummaryTable {
 public:
  struct Column {
    std::string name;
    bool is_text = false;  // its values are numbers of texts, -1 for none
    bool operator==(const Column& other) const {
      return name == other.name && is_text == other.is_text;
    }
  };

  SummaryTable(std::string name, std::vector<Column> columns)
      : name_(std::move(name)), columns_(std::move(columns)) {}

  const std::string& name() const noexcept { return name_; }
  const std::vector<Column>& columns() const noexcept { return columns_; }
  std::size_t rows() const noexcept {
    return columns_.empty() ? 0 : values_.size() / columns_.size();
  }
  std::int64_t value(std::size_t row, std::size_t column) const {
    return values_[row * columns_.size() + column];
  }
  // As many values as there are columns.
  void add_row(const std::int64_t* values) {
    values_.insert(values_.end(), values, values + columns_.size());
  }
  void reserve(std::size_t rows) { values_.reserve(rows * columns_.size()); }

  // The rows in the order of their values, texts by their bytes: the same whatever was added first.
  std::vector<std::size_t> order(const TextPlaces& places) const;
  // Sorts the rows so.
  void sort(const TextPlaces& places);

 private:
  std::string name_;
  std::vector<Column> columns_;
  std::vector<std::int64_t> values_;  // row after row
};

}  // namespace nvspan::ranks
