// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The calls of one process by their numbers, which the work that they launched has, too.

#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace nvspan::reader {

template <typename Call>
class NumberedCalls {
 public:
  void add(std::uint64_t number, const Call& call) { calls_.emplace_back(number, call); }
  // After the last add() and before find().
  void sort() {
    if (!std::is_sorted(calls_.begin(), calls_.end(), is_before)) {
      std::stable_sort(calls_.begin(), calls_.end(), is_before);
    }
  }
  // Of several calls with that number the one that was added first; null: none.
  const Call* find(std::uint64_t number) const {
    const auto found = std::lower_bound(
        calls_.begin(), calls_.end(), number,
        [](const Entry& entry, std::uint64_t wanted) { return entry.first < wanted; });
    return found != calls_.end() && found->first == number ? &found->second : nullptr;
  }
  void clear() { calls_.clear(); }

 private:
  using Entry = std::pair<std::uint64_t, Call>;
  static bool is_before(const Entry& a, const Entry& b) { return a.first < b.first; }

  std::vector<Entry> calls_;
};

}  // namespace nvspan::reader
