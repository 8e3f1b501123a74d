// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The time between the steps of a thread, and before and after them.

#pragma once

#include "reader/loops/loop_steps.hpp"
#include "reader/loops/ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

struct LoopGapPart {
  std::uint32_t group = 0;
  std::uint64_t calls = 0;
  std::int64_t total = 0;
  bool has_series = false;  // of the `most_series` largest between steps
  core::LargeVector<std::int64_t> pauses, series;
};

struct LoopGaps {
  std::uint32_t thread = 0;
  std::int64_t loop = 0, total = 0, lead = 0, tail = 0;
  core::LargeVector<std::int64_t> series;
  std::vector<LoopGapPart> parts, before, after;  // the largest totals first
};

// Of `thread`, or where that has no steps of the one that has the most.
LoopGaps find_gaps(const LoopRanges& ranges, const LoopSteps& steps, std::uint32_t thread);

// The thread that has the most steps.
std::uint32_t busiest_thread(const LoopSteps& steps);

}  // namespace nvspan::reader
