// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The groups of ranges that could be steps, and how they lie in each other.

#pragma once

#include "reader/loops/ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

struct LoopCandidate {
  std::uint32_t group = 0;
  RangeRows rows;  // the outermost that count, by thread and start
  std::uint64_t all_ranges = 0;
  std::uint32_t thread = 0;
  std::int64_t total = 0;
  double coverage = 0, extent = 0;
  std::uint32_t parts = 0;
  bool is_overlapping = false, is_recursive = false;
  bool is_tiny = false;  // most are shorter than 2 us: nobody calls these steps
};

constexpr std::size_t most_candidates = 4096;  // the largest totals

// Groups with two ranges or more; `loop_thread` is preferred to others.
std::vector<LoopCandidate> find_candidates(const LoopRanges& ranges, std::uint32_t loop_thread);

struct LoopInside {
  double contained = 0, rounds = 0, time = 0;
};
LoopInside inside_of(const LoopRanges& ranges, const LoopCandidate& inner,
                     const LoopCandidate& outer);

// Whether they come regularly: the distances of starts deviate by less than half of their mean.
bool is_regular(const LoopRanges& ranges, const LoopCandidate& candidate);
// Whether they lie in one range or in none, or in few that do not nest in each other: as the rounds
// of one loop do, and not what a recursive function calls.
bool are_siblings(const LoopRanges& ranges, const LoopCandidate& candidate);

}  // namespace nvspan::reader
