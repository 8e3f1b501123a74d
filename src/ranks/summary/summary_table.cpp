// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/summary/summary_table.hpp"

#include <algorithm>
#include <numeric>

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

}  // namespace nvspan::ranks
