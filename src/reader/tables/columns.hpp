// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The tables of a recording as named columns, made when they are asked for and kept.

#pragma once

#include "reader/scan/selection.hpp"
#include "reader/tables/column.hpp"
#include "reader/tables/payload_columns.hpp"
#include "reader/tables/tables.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

namespace nvspan::reader {

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
