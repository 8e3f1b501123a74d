// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The groups of ranges that could be steps, and how they lie in each other.

#pragma once

#include "reader/loops/ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nvspan::reader {

struct LoopCandidate {
  std::uint32_t group = 0;
  std::vector<std::uint32_t> threads;  // whose ranges count
  std::uint64_t ranges = 0;            // the outermost on those
  std::uint64_t all_ranges = 0;
  std::uint32_t thread = 0;
  std::int64_t total = 0;
  double coverage = 0, extent = 0;
  std::uint32_t parts = 0;
  bool floats = false;  // some of them float: then all count
  bool is_overlapping = false, is_recursive = false;
  bool is_tiny = false;   // most are shorter than 2 us: nobody calls these steps
  bool is_plain = false;  // all ranges of the group count, in one thread, and none holds another
};

constexpr std::size_t most_candidates = 4096;  // the largest totals

// What all ranges of a group are directly in.
struct GroupNesting {
  static constexpr std::uint32_t several = 0xFFFFFFFE;
  static constexpr std::uint32_t outermost = 0xFFFFFFFF;
  std::uint32_t around = several;  // ranges of this group
  std::uint64_t outers = 0;        // how many of those hold one
};

struct LoopCandidates {
  std::vector<LoopCandidate> all;
  RangeRows rows;                    // of all of them
  std::vector<GroupNesting> places;  // by group
};

// Groups with two ranges or more; `loop_thread` is preferred to others.
LoopCandidates find_candidates(const LoopRanges& ranges, std::uint32_t loop_thread);

// The ranges that count, by thread and start: a pass over all ranges.
RangeRows rows_of(const LoopRanges& ranges, const LoopCandidate& candidate);

// Of the inner ranges on the outer ones' thread, those within outer ones.
struct LoopInside {
  static constexpr double least = 0.8;  // part of them, below which all figures are 0
  double contained = 0, rounds = 0, time = 0;
};
// Where the groups alone say it; else by the rows of both.
std::optional<LoopInside> inside_by_groups(const LoopRanges& ranges,
                                           const std::vector<GroupNesting>& places,
                                           const LoopCandidate& inner, const LoopCandidate& outer);
LoopInside inside_by_rows(const LoopRanges& ranges, const RangeRows& inner, const RangeRows& outer,
                          std::uint32_t thread);

// Whether they come regularly: the distances of starts deviate by less than half of their mean.
bool is_regular(const LoopRanges& ranges, const RangeRows& rows);
// Whether they lie in one range or in none, or in few that do not nest in each other: as the rounds
// of one loop do, and not what a recursive function calls.
bool are_siblings(const LoopRanges& ranges, const RangeRows& rows);

}  // namespace nvspan::reader
