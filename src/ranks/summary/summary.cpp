// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/summary/summary.hpp"

#include "ranks/summary/packed.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace nvspan::ranks {

std::vector<std::size_t> SummaryTable::order(const TextPlaces& places) const {
  std::vector<std::size_t> order(rows());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const auto key = [&](std::size_t row, std::size_t column) {
    const std::int64_t at = value(row, column);
    if (!columns_[column].is_text || at < 0) return at;
    return static_cast<std::int64_t>(places[static_cast<std::size_t>(at)]);
  };
  std::sort(order.begin(), order.end(), [&](std::size_t one, std::size_t other) {
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      const std::int64_t a = key(one, column);
      const std::int64_t b = key(other, column);
      if (a != b) return a < b;
    }
    return false;
  });
  return order;
}

void SummaryTable::sort(const TextPlaces& places) {
  std::vector<std::int64_t> sorted;
  sorted.reserve(values_.size());
  const auto width = static_cast<std::ptrdiff_t>(columns_.size());
  for (const std::size_t row : order(places)) {
    const auto from = values_.begin() + static_cast<std::ptrdiff_t>(row) * width;
    sorted.insert(sorted.end(), from, from + width);
  }
  values_ = std::move(sorted);
}

std::size_t RangeKeyHash::operator()(const RangeKey& key) const noexcept {
  std::uint64_t hash = static_cast<std::uint64_t>(static_cast<std::uint32_t>(key.domain)) << 32 |
                       static_cast<std::uint32_t>(key.name);
  hash = hash * 0x9E3779B97F4A7C15u ^ static_cast<std::uint64_t>(key.group) * 8;
  hash ^= std::uint64_t{key.kind} << 2 | std::uint64_t{key.backward} << 1 | key.is_others;
  hash ^= hash >> 32;
  return static_cast<std::size_t>(hash * 0xC2B2AE3D27D4EB4Fu);
}

void RangeFigures::merge(const RangeFigures& other) {
  calls += other.calls;
  unclosed += other.unclosed;
  threads += other.threads;
  devices += other.devices;
  total += other.total;
  open_time += other.open_time;
  sum += other.sum;
  self += other.self;
  squares += other.squares;
  overhead += other.overhead;
  nested += other.nested;
  bytes += other.bytes;
  covered += other.covered;
  resumable += other.resumable;
  resumptions += other.resumptions;
  awaited += other.awaited;
  shortest = std::min(shortest, other.shortest);
  longest = std::max(longest, other.longest);
  first = std::min(first, other.first);
  last = std::max(last, other.last);
  durations = durations.empty() ? other.durations : merged_histograms(durations, other.durations);
}

const SummaryTable* Summary::table(std::string_view name) const {
  for (const auto& table : tables_) {
    if (table->name() == name) return table.get();
  }
  return nullptr;
}

SummaryTable& Summary::table(std::string_view name,
                             const std::vector<SummaryTable::Column>& columns) {
  for (const auto& table : tables_) {
    if (table->name() != name) continue;
    if (table->columns() == columns) return *table;
    throw std::invalid_argument("two tables are called '" + std::string(name) +
                                "' and have different columns");
  }
  tables_.push_back(std::make_unique<SummaryTable>(std::string(name), columns));
  return *tables_.back();
}

void Summary::merge(const Summary& other) {
  std::vector<std::int32_t> ids(other.texts_.size());
  for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = intern(other.texts_[i]);
  const auto id_of = [&](std::int64_t id) {
    return id < 0 ? no_text : ids[static_cast<std::size_t>(id)];
  };
  for (const auto& [key, figures] : other.rows_) {
    RangeKey own = key;
    own.domain = id_of(key.domain);
    own.name = id_of(key.name);
    rows_[own].merge(figures);
  }
  std::vector<std::int64_t> row;
  for (const auto& from : other.tables_) {
    SummaryTable& to = table(from->name(), from->columns());
    row.resize(from->columns().size());
    for (std::size_t i = 0; i < from->rows(); ++i) {
      for (std::size_t column = 0; column < row.size(); ++column) {
        const std::int64_t value = from->value(i, column);
        row[column] = from->columns()[column].is_text ? id_of(value) : value;
      }
      to.add_row(row.data());
    }
  }
}

void Summary::collapse() {
  Rows rows;
  for (const auto& [key, figures] : rows_) {
    RangeKey own = key;
    own.group = all_groups;
    rows[own].merge(figures);
  }
  rows_ = std::move(rows);
}

TextPlaces Summary::places() const {
  std::vector<std::uint32_t> order(texts_.size());
  std::iota(order.begin(), order.end(), 0u);
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t one, std::uint32_t other) { return texts_[one] < texts_[other]; });
  TextPlaces places(order.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) places[order[i]] = i;
  return places;
}

std::vector<const Summary::Rows::value_type*> Summary::ordered_rows() const {
  const TextPlaces places = this->places();
  const auto place = [&](std::int32_t id) {
    return id < 0 ? std::int64_t{-1} : std::int64_t{places[static_cast<std::size_t>(id)]};
  };
  const auto key = [&](const Rows::value_type* row) {
    const RangeKey& of = row->first;
    return std::make_tuple(place(of.domain), place(of.name), of.kind, of.backward, of.is_others,
                           of.group);
  };
  std::vector<const Rows::value_type*> rows;
  rows.reserve(rows_.size());
  for (const auto& row : rows_) rows.push_back(&row);
  std::sort(rows.begin(), rows.end(),
            [&](const auto* one, const auto* other) { return key(one) < key(other); });
  return rows;
}

}  // namespace nvspan::ranks
