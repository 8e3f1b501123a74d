// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sorting by a number, with one function of the machine for rows of all types: each type that is
// given to std::stable_sort takes 3 to 10 KB of code. For what is sorted once a file or a report.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <type_traits>
#include <utility>
#include <vector>

namespace nvspan::core {

struct KeyOfRow {
  std::uint64_t key;
  std::size_t row;
};

// Sorts by key, then by row. False, and nothing moves: they are in order.
inline bool sort_keys(std::vector<KeyOfRow>& keys) {
  const auto before = [](const KeyOfRow& a, const KeyOfRow& b) {
    return a.key != b.key ? a.key < b.key : a.row < b.row;
  };
  if (std::is_sorted(keys.begin(), keys.end(), before)) return false;
  std::sort(keys.begin(), keys.end(), before);
  return true;
}

// Rows of equal keys stay in their order. `key_of` returns an integer of 64 bits.
template <class Row, class KeyOf>
void stable_sort_by(Row begin, Row end, KeyOf key_of) {
  using Key = decltype(key_of(*begin));
  static_assert(sizeof(Key) == sizeof(std::uint64_t) && std::is_integral_v<Key>);
  constexpr std::uint64_t lowest = std::is_signed_v<Key> ? std::uint64_t{1} << 63 : 0;
  std::vector<KeyOfRow> keys;
  keys.reserve(static_cast<std::size_t>(end - begin));
  for (Row row = begin; row != end; ++row) {
    keys.push_back({static_cast<std::uint64_t>(key_of(*row)) ^ lowest, keys.size()});
  }
  if (!sort_keys(keys)) return;
  std::vector<typename std::iterator_traits<Row>::value_type> sorted;
  sorted.reserve(keys.size());
  for (const KeyOfRow& each : keys) {
    sorted.push_back(std::move(begin[static_cast<std::ptrdiff_t>(each.row)]));
  }
  std::move(sorted.begin(), sorted.end(), begin);
}

}  // namespace nvspan::core
