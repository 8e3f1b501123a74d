// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What is left of a recording where there are thousands of them. All figures are integers, so that
// merging is associative and commutative, and bytes() are the same for any order.

#pragma once

#include "core/text/text_table.hpp"
#include "ranks/summary/packed.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace nvspan::ranks {

// The texts of a summary, in the order of their bytes: place[id] of each id.
using TextPlaces = std::vector<std::uint32_t>;

// Rows of integers and texts beside the figures of names: processes, steps, collectives, and what
// else is known of each of them. Tables of one name have the same columns.
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

constexpr std::int32_t no_text = -1;
constexpr std::int64_t all_groups = -1;  // rows of every rank together
// Kinds of rows: those of reader::RangeKind; marks, of which `calls` alone is known; passes of a
// module, see ranks/modules/module_figures.hpp; and collectives, see
// ranks/extract/collective_figures.hpp.
constexpr std::uint8_t kind_of_marks = 3;
constexpr std::uint8_t kind_of_modules = 4;  // to 7
constexpr std::uint8_t kind_of_collectives = 8;

struct RangeKey {
  std::int32_t domain = no_text;  // of Summary::texts(); a model, a communicator
  std::int32_t name = no_text;
  std::uint8_t kind = 0;
  bool backward = false;
  bool is_others = false;  // of all names past the budget
  // A rank; below `all_groups`: a process without one, by its number.
  std::int64_t group = all_groups;

  bool operator==(const RangeKey& other) const noexcept {
    return domain == other.domain && name == other.name && kind == other.kind &&
           backward == other.backward && is_others == other.is_others && group == other.group;
  }
};
struct RangeKeyHash {
  std::size_t operator()(const RangeKey& key) const noexcept;
};

// Times are ns; `first` and `last` are ns since 1970.
struct RangeFigures {
  std::uint64_t calls = 0;     // closed ones; what follows is about those
  std::uint64_t unclosed = 0;  // as in reader::AggregateRow
  std::uint64_t threads = 0;
  std::uint64_t devices = 0;
  Wide total = 0;      // as reader::AggregateRow::total()
  Wide open_time = 0;  // of it, of ranges that are still open
  Wide sum = 0;
  Wide self = 0;
  Wide squares = 0;
  Wide overhead = 0;  // thousandths of ns
  Wide nested = 0;    // ns of the sum that lie within ranges of the same row
  Wide bytes = 0;     // of collectives
  Wide covered = 0;   // ns in which one was open; negative: not known
  // As in reader::AggregateRow, of a profile's generators and coroutines.
  std::uint64_t resumable = 0;  // processes of which it is one
  std::uint64_t resumptions = 0;
  Wide awaited = 0;  // negative: not known
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  std::int64_t longest = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
  std::string durations;  // packed_histogram()

  void merge(const RangeFigures& other);
};

class Summary {
 public:
  using Rows = std::unordered_map<RangeKey, RangeFigures, RangeKeyHash>;

  std::int32_t intern(std::string_view text) { return texts_.add(text); }
  const core::TextTable& texts() const noexcept { return texts_; }
  const Rows& rows() const noexcept { return rows_; }
  RangeFigures& row(const RangeKey& key) { return rows_[key]; }
  const std::vector<std::unique_ptr<SummaryTable>>& tables() const noexcept { return tables_; }
  // Null: there is none of this name.
  const SummaryTable* table(std::string_view name) const;
  // The table of this name, made where there is none. Throws std::invalid_argument where there is
  // one with other columns.
  SummaryTable& table(std::string_view name, const std::vector<SummaryTable::Column>& columns);

  void merge(const Summary& other);
  // Rows of all ranks become one.
  void collapse();

  // Where each text stands among all of them.
  TextPlaces places() const;
  // Rows in the order of their keys, texts by their bytes.
  std::vector<const Rows::value_type*> ordered_rows() const;

  // With a checksum; read() throws SummaryError where they are damaged.
  std::string bytes() const;
  static std::unique_ptr<Summary> read(std::string_view bytes);

 private:
  core::TextTable texts_;
  Rows rows_;
  std::vector<std::unique_ptr<SummaryTable>> tables_;
};

}  // namespace nvspan::ranks
