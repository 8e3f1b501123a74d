// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The tables of a recording as named columns, made when they are asked for and kept.

#pragma once

#include "core/text/text_table.hpp"
#include "reader/scan/selection.hpp"
#include "reader/tables/payload_columns.hpp"
#include "reader/tables/tables.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nvspan::reader {

// UTF-8 text for dictionary columns: bytes that are none are replaced.
struct Dictionary {
  explicit Dictionary(const core::TextTable& strings);

  std::vector<std::int32_t> offsets;
  std::vector<char> bytes;
};

// A column of a table, as Arrow lays them out.
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

// Any number of threads may use one at once. None of its locks is held when it returns, and nothing
// that is done under them waits for a caller.
class Columns {
 public:
  explicit Columns(std::shared_ptr<Recording> recording) : recording_(std::move(recording)) {}
  // Those of a part; the tables of the whole are made once for all of them.
  Columns(std::shared_ptr<Columns> whole, Selection part)
      : recording_(whole->recording_), whole_(std::move(whole)), part_(std::move(part)) {}

  // Empty for a table that does not exist; the tables are ranges, marks, counters, threads, domains
  // and losses.
  // Those of ranges and marks end with "payload.NAME" for each field that a payload has.
  std::vector<std::string> names(std::string_view table);
  std::shared_ptr<const Column> column(std::string_view table, std::string_view name);
  std::size_t rows(std::string_view table);

  const Recording& recording() const noexcept { return *recording_; }
  const Tables& tables();
  bool has_tables() const noexcept {
    return built_tables_.load(std::memory_order_acquire) != nullptr;
  }

 private:
  // What follows wants the mutex held, but for what only looks at tables().
  template <typename T>
  std::shared_ptr<Column> borrowed(char type, const std::vector<T>& data) {
    auto column = std::make_shared<Column>();
    column->type = type;
    column->data = data.data();
    column->length = data.size();
    column->owner = tables_;
    return column;
  }
  std::shared_ptr<Column> text(std::size_t rows, std::vector<std::int32_t> indices);
  template <typename Table>
  std::shared_ptr<Column> of_site(const Table& table, std::string_view name);
  std::shared_ptr<Column> of_ranges(std::string_view name);
  std::shared_ptr<Column> of_devices(std::string_view name);
  std::shared_ptr<Column> of_marks(std::string_view name);
  std::shared_ptr<Column> of_counters(std::string_view name);
  std::shared_ptr<Column> of_threads(std::string_view name);
  const PayloadColumns* payloads(std::string_view table);
  std::shared_ptr<Column> of_payload(std::string_view table, const std::string& field);
  std::shared_ptr<Column> of_domains(std::string_view name);
  std::shared_ptr<Column> of_losses(std::string_view name);

  std::shared_ptr<Recording> recording_;
  std::shared_ptr<Columns> whole_;  // none: these are
  Selection part_;
  std::mutex tables_mutex_;  // taken after mutex_, and before that of the whole
  std::atomic<const Tables*> built_tables_{nullptr};
  std::shared_ptr<const Tables> tables_;
  std::mutex mutex_;
  std::unique_ptr<PayloadColumns> range_payloads_;
  std::unique_ptr<PayloadColumns> mark_payloads_;
  std::shared_ptr<const Dictionary> dictionary_;
  std::map<std::pair<std::string, std::string>, std::shared_ptr<const Column>> columns_;
};

}  // namespace nvspan::reader
