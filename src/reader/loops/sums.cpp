// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/sums.hpp"

#include "core/statistics/order.hpp"

#include <algorithm>

namespace nvspan::reader {

std::vector<LoopThread> find_threads(const LoopRanges& ranges) {
  std::vector<LoopThread> found;
  for (std::uint32_t thread = 0; thread < ranges.of_threads.size(); ++thread) {
    const LoopRanges::Rows rows = ranges.rows_of(thread);
    if (rows.begin == rows.end) continue;
    LoopThread one;
    one.thread = thread;
    one.ranges = rows.end - rows.begin;
    one.begin = ranges.start[rows.begin];
    one.end = rows.last;
    SortedCoverage all, waits;
    for (RangeRow row = rows.begin; row < rows.end; ++row) {
      if (ranges.is_floating(row)) {
        ++one.floating;
        continue;
      }
      one.covered += all.add(thread, ranges.start[row], ranges.end[row]);
      if (!ranges.has(row, trait_wait)) continue;
      one.waiting += waits.add(thread, ranges.start[row], ranges.end[row]);
    }
    found.push_back(one);
  }
  return found;
}

std::vector<GroupSum> largest_self_times(const LoopRanges& ranges, std::uint32_t thread,
                                         std::size_t most) {
  std::vector<GroupSum> sums(ranges.groups.size());
  for (RangeRow row = 0; row < ranges.size(); ++row) {
    if (ranges.is_call(row)) ++sums[ranges.group[row]].ranges;
  }
  const LoopRanges::Rows rows = ranges.rows_of(thread);
  std::vector<std::int64_t> own(rows.end - rows.begin);
  for (RangeRow row = rows.begin; row < rows.end; ++row) {
    if (ranges.is_floating(row)) continue;
    own[row - rows.begin] += ranges.duration(row);
    const RangeRow parent = ranges.parent[row];
    if (parent != no_range) own[parent - rows.begin] -= ranges.duration(row);
  }
  for (RangeRow row = rows.begin; row < rows.end; ++row) {
    sums[ranges.group[row]].time += std::max<std::int64_t>(0, own[row - rows.begin]);
  }
  for (std::uint32_t group = 0; group < sums.size(); ++group) sums[group].group = group;
  std::stable_sort(sums.begin(), sums.end(),
                   [](const GroupSum& a, const GroupSum& b) { return a.time > b.time; });
  while (!sums.empty() && (sums.size() > most || sums.back().time == 0)) sums.pop_back();
  return sums;
}

std::vector<GroupSum> most_frequent(const LoopRanges& ranges, std::size_t most) {
  constexpr std::uint64_t least = 1000;
  std::vector<GroupSum> sums(ranges.groups.size());
  for (const std::uint32_t group : ranges.group) ++sums[group].ranges;
  for (std::uint32_t group = 0; group < sums.size(); ++group) sums[group].group = group;
  std::stable_sort(sums.begin(), sums.end(),
                   [](const GroupSum& a, const GroupSum& b) { return a.ranges > b.ranges; });
  while (!sums.empty() && (sums.size() > most || sums.back().ranges < least)) sums.pop_back();
  for (GroupSum& sum : sums) {
    std::vector<std::int64_t> durations;
    durations.reserve(sum.ranges);
    for (RangeRow row = 0; row < ranges.size(); ++row) {
      if (ranges.group[row] == sum.group) durations.push_back(ranges.duration(row));
    }
    sum.time = core::median(durations);
  }
  return sums;
}

}  // namespace nvspan::reader
