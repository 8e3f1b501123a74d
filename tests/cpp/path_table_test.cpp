// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The table of paths: the same numbers as a map's, however large it grows.

#include "core/memory/path_table.hpp"
#include "expect.hpp"

#include <cstdint>
#include <map>
#include <utility>

using nvspan::core::PathKey;
using nvspan::core::PathTable;

int main() {
  PathTable table;
  std::map<std::pair<std::uint64_t, std::uint64_t>, std::uint64_t> known;
  std::uint64_t random = 1;
  for (std::uint64_t i = 0; i < 200'000; ++i) {
    random = random * 6364136223846793005u + 1442695040888963407u;
    // Roots count down from the greatest number, as the paths of a flame graph do.
    const std::uint64_t from = i % 3 == 0 ? ~(i % 7) : i / 2;
    const std::uint64_t name = (random >> 40 & 0xFFF) << 2 | (i & std::uint64_t{1}) << 63;
    const auto entry = known.emplace(std::make_pair(from, name), i);
    std::uint64_t& number = table[PathKey{from, name}];
    EXPECT(number == (entry.second ? PathTable::none : entry.first->second));
    if (entry.second) number = i;
  }
  for (const auto& [path, number] : known) {
    const PathKey key{path.first, path.second};
    EXPECT(table[key] == number);
  }
  return nvspan_test::failures() == 0 ? 0 : 1;
}
