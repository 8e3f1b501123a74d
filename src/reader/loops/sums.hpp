// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Sums over the groups and the threads of a run.

#pragma once

#include "reader/loops/ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

struct LoopThread {
  std::uint32_t thread = 0;
  std::uint64_t ranges = 0, floating = 0;
  std::int64_t begin = 0, end = 0;
  std::int64_t covered = 0, waiting = 0;  // floating ranges aside
};
std::vector<LoopThread> find_threads(const LoopRanges& ranges);

struct GroupSum {
  std::uint32_t group = 0;
  std::uint64_t ranges = 0;
  std::int64_t time = 0;
};
// The largest self times on the thread, the largest first; `ranges` are calls.
std::vector<GroupSum> largest_self_times(const LoopRanges& ranges, std::uint32_t thread,
                                         std::size_t most);
// The groups with the most ranges, 1000 at least; `time` is their median duration.
std::vector<GroupSum> most_frequent(const LoopRanges& ranges, std::size_t most);

}  // namespace nvspan::reader
