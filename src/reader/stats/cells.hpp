// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a chunk of a recording of mode "stats" holds, one after the other.

#pragma once

#include "record/file/format.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

namespace nvspan::reader {

// Calls take(cell) for each StatsCell, StatsBlock, StatsNested and StatsAwaited, up to the first
// word that is none of their kinds.
template <typename Take>
void each_cell(const std::vector<std::uint64_t>& words, const Take& take) {
  std::size_t at = 0;
  const auto read = [&](auto cell) {
    if ((words.size() - at) * sizeof(std::uint64_t) < sizeof cell) return false;
    std::memcpy(&cell, words.data() + at, sizeof cell);
    at += sizeof cell / sizeof(std::uint64_t);
    take(cell);
    return true;
  };
  for (bool goes_on = true; goes_on && at < words.size();) {
    switch (words[at]) {
      case 1:
        goes_on = read(record::StatsCell{});
        break;
      case 2:
        goes_on = read(record::StatsBlock{});
        break;
      case 3:
        goes_on = read(record::StatsNested{});
        break;
      case 4:
        goes_on = read(record::StatsAwaited{});
        break;
      default:
        goes_on = false;
    }
  }
}

}  // namespace nvspan::reader
