// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Samples by line or function: where the time is, with and without what was called from there.

#pragma once

#include "reader/samples/sample_sums.hpp"
#include "reader/samples/shown_stacks.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

struct LineRow {
  LinePlace place;
  SampleTime self;   // as the innermost frame that is shown
  SampleTime total;  // anywhere in the stack
  // The C function in which most of `self` is; no_name: none, or not known.
  std::int32_t c_function = no_name;
  double margin = 0;  // of the share of `self` in all time: the half of its 95 % interval
};

struct LineSums {
  std::vector<LineRow> rows;  // by self time, the largest first
  SampleTime all;
  std::uint64_t idle_threads = 0;  // that are left out
  SampleTime idle;                 // of them
};

LineSums line_sums(const Recording& recording, const SampleSums& sums, const LineOptions& options);

// The time of each path of ranges, without those within it.
std::vector<SampleTime> path_times(const SampleSums& sums);

// A path of ranges and a stack of functions below it, the outermost first.
struct FoldedStack {
  std::uint32_t path = 0;
  std::vector<std::uint32_t> places;  // of FoldedStacks::places
  SampleTime time;
};
struct FoldedStacks {
  std::vector<LinePlace> places;
  std::vector<FoldedStack> stacks;
};
FoldedStacks folded_stacks(const Recording& recording, const SampleSums& sums,
                           const LineOptions& options);

}  // namespace nvspan::reader
