// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A column of a table, as Arrow lays them out.

#pragma once

#include "core/text/text_table.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

namespace nvspan::reader {

// UTF-8 text for dictionary columns: bytes that are none are replaced.
struct Dictionary {
  explicit Dictionary(const core::TextTable& strings);

  std::vector<std::int32_t> offsets;
  std::vector<char> bytes;
};

struct Column {
  std::string name;
  char type = 'l';  // as in Arrow: l int64, L uint64, i int32, I uint32, C uint8, g float64
  const void* data = nullptr;
  std::size_t length = 0;
  std::shared_ptr<const void> owner;
  std::shared_ptr<const Dictionary> dictionary;         // then the data are its indices; -1: null
  std::shared_ptr<std::vector<std::uint8_t>> validity;  // bits; null: every row has a value
  std::int64_t null_count = 0;

  std::size_t item_size() const noexcept;
};

// Of so many rows, the `value(row)` of each.
template <typename T, typename Value>
std::shared_ptr<Column> make_column(char type, std::size_t rows, Value&& value) {
  auto data = std::make_shared<std::vector<T>>();
  data->reserve(rows);
  for (std::size_t i = 0; i < rows; ++i) data->push_back(static_cast<T>(value(i)));
  auto column = std::make_shared<Column>();
  column->type = type;
  column->data = data->data();
  column->length = rows;
  column->owner = data;
  return column;
}

// The others have no value.
template <typename Is>
void set_valid(Column& column, Is&& is_valid) {
  auto bits = std::make_shared<std::vector<std::uint8_t>>((column.length + 7) / 8, 0);
  column.null_count = 0;
  for (std::size_t i = 0; i < column.length; ++i) {
    if (is_valid(i)) {
      (*bits)[i / 8] = static_cast<std::uint8_t>((*bits)[i / 8] | 1u << i % 8);
    } else {
      ++column.null_count;
    }
  }
  if (column.null_count != 0) column.validity = std::move(bits);
}

}  // namespace nvspan::reader
