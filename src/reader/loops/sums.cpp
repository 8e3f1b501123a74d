// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/sums.hpp"

#include "core/statistics/order.hpp"

#include <algorithm>

namespace nvspan::reader {
namespace {

std::vector<GroupSum> group_sums(const LoopRanges& ranges) {
  std::vector<GroupSum> sums(ranges.groups.size());
  for (std::uint32_t group = 0; group < sums.size(); ++group) {
    sums[group].group = group;
    sums[group].ranges = ranges.groups[group].ranges;
  }
  return sums;
}

}  // namespace

std::vector<LoopThread> find_threads(const LoopRanges& ranges) {
  std::vector<LoopThread> found;
  const bool has_waits = ranges.has_any(trait_wait);
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
      const bool is_outermost = ranges.parent[row] == no_range;
      if (is_outermost && ranges.is_floating(row)) {
        ++one.floating;
        continue;
      }
      if (is_outermost) one.covered += all.add(thread, ranges.start[row], ranges.end[row]);
      if (!has_waits || !ranges.has(row, trait_wait)) continue;
      one.waiting += waits.add(thread, ranges.start[row], ranges.end[row]);
    }
    found.push_back(one);
  }
  return found;
}

std::vector<GroupSum> largest_self_times(const LoopRanges& ranges, std::uint32_t thread,
                                         std::size_t most) {
  std::vector<GroupSum> sums = group_sums(ranges);
  for (RangeRow row = 0; ranges.has_flags() && row < ranges.size(); ++row) {
    if (!ranges.is_call(row)) --sums[ranges.group[row]].ranges;
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
  std::stable_sort(sums.begin(), sums.end(),
                   [](const GroupSum& a, const GroupSum& b) { return a.time > b.time; });
  while (!sums.empty() && (sums.size() > most || sums.back().time == 0)) sums.pop_back();
  return sums;
}

std::vector<GroupSum> most_frequent(const LoopRanges& ranges, std::size_t most) {
  constexpr std::uint64_t least = 1000;
  std::vector<GroupSum> sums = group_sums(ranges);
  std::stable_sort(sums.begin(), sums.end(),
                   [](const GroupSum& a, const GroupSum& b) { return a.ranges > b.ranges; });
  while (!sums.empty() && (sums.size() > most || sums.back().ranges < least)) sums.pop_back();
  std::vector<core::LargeVector<std::int64_t>> durations(sums.size());
  std::vector<core::LargeVector<std::int64_t>*> of_groups(ranges.groups.size());
  for (std::size_t i = 0; i < sums.size(); ++i) {
    durations[i].reserve(sums[i].ranges);
    of_groups[sums[i].group] = &durations[i];
  }
  for (RangeRow row = 0; !sums.empty() && row < ranges.size(); ++row) {
    if (auto* const of = of_groups[ranges.group[row]]) of->push_back(ranges.duration(row));
  }
  for (std::size_t i = 0; i < sums.size(); ++i) sums[i].time = core::median(durations[i]);
  return sums;
}

}  // namespace nvspan::reader
