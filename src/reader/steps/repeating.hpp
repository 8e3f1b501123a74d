// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Picks the range to treat as a step when the program marks none.

#pragma once

#include "reader/file/recording.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::reader {

// Ranges of one domain and name.
struct RepeatedName {
  std::uint32_t domain = 0;
  std::int32_t name = no_name;
  std::uint64_t calls = 0;
  std::int64_t total = 0;  // ns
};

struct Repeating {
  bool is_found = false;
  RepeatedName step;
  std::vector<RepeatedName> phases;  // the largest directly within it, in the order they came in
};

// The range that takes the most time of those that ran often enough, or the one of `steps`, by
// sites, where there are any. At most `most_phases` phases.
Repeating find_repeating(const Recording& recording, const std::vector<std::uint8_t>& steps,
                         std::uint64_t least_calls, std::size_t most_phases);

}  // namespace nvspan::reader
