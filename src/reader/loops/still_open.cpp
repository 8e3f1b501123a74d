// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/still_open.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace nvspan::reader {
namespace {

using Open = std::vector<UnendedRange>::const_iterator;

// Of a thread's open ranges, by their starts: the time of each in none that began later, nor in one
// that ended.
std::vector<std::int64_t> self_times(const LoopRanges& ranges, Open begin, Open end) {
  std::vector<std::int64_t> own;
  for (Open one = begin; one != end; ++one) {
    const bool is_last = one + 1 == end;
    own.push_back((is_last ? one->end : std::min(one->end, (one + 1)->start)) - one->start);
  }
  const LoopRanges::Rows rows = ranges.rows_of(begin->thread);
  SortedCoverage coverage;
  Open next = begin;
  for (RangeRow row = rows.begin; row < rows.end; ++row) {
    while (next != end && next->start <= ranges.start[row]) ++next;
    if (next == begin || ranges.parent[row] != no_range || ranges.is_floating(row)) continue;
    own[static_cast<std::size_t>(next - begin) - 1] -=
        coverage.add(begin->thread, ranges.start[row], ranges.end[row]);
  }
  for (std::int64_t& time : own) time = std::max<std::int64_t>(0, time);
  return own;
}

}  // namespace

std::vector<OpenSum> find_open(const Recording& recording, const LoopRanges& ranges) {
  std::vector<UnendedRange> open = ranges.still_open();
  std::stable_sort(open.begin(), open.end(), [](const UnendedRange& a, const UnendedRange& b) {
    return std::tie(a.thread, a.start) < std::tie(b.thread, b.start);
  });
  std::vector<OpenSum> found;
  for (Open at = open.cbegin(); at != open.cend();) {
    const Open end = std::find_if(
        at, open.cend(), [&](const UnendedRange& one) { return one.thread != at->thread; });
    const std::vector<std::int64_t> own = self_times(ranges, at, end);
    std::map<std::pair<std::uint32_t, std::int32_t>, std::size_t> places;
    for (Open one = at; one != end; ++one) {
      const ReadSite& site = recording.sites()[one->site];
      const auto place = places.emplace(std::make_pair(site.domain, site.name), found.size());
      if (place.second) found.push_back({one->thread, one->site, 0, one->start, one->end, 0});
      OpenSum& sum = found[place.first->second];
      ++sum.ranges;
      sum.self += own[static_cast<std::size_t>(one - at)];
    }
    at = end;
  }
  std::stable_sort(found.begin(), found.end(), [](const OpenSum& a, const OpenSum& b) {
    return a.end - a.begin > b.end - b.begin;
  });
  return found;
}

}  // namespace nvspan::reader
