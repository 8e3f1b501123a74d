// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/nesting.hpp"

#include <algorithm>

namespace nvspan::reader {

std::vector<std::uint32_t> crossing_groups(const LoopRanges& ranges,
                                           const std::vector<std::uint8_t>& floats) {
  constexpr std::size_t most_around = 8;  // that are looked at
  std::vector<std::uint8_t> crosses(ranges.groups.size());
  const auto may_cross = [&](RangeRow row) {
    return (ranges.flags[row] & LoopRanges::start_end) != 0;
  };
  const auto note = [&](RangeRow row) { crosses[ranges.group[row]] = 1; };
  NestingStack stack(ranges);
  ThreadOf thread_of(ranges);
  for (RangeRow row = 0; row < ranges.size(); ++row) {
    if (floats[ranges.group[row]] != 0) continue;
    const std::uint32_t thread = thread_of(row);
    const std::vector<RangeRow>& open = stack.open_before(row, thread);
    if (!open.empty()) {
      const RangeRow around = open.back();
      const bool is_crossed = ranges.end[around] < ranges.end[row];
      const auto nearest =
          open.end() - static_cast<std::ptrdiff_t>(std::min(open.size(), most_around));
      const bool is_within_like = std::any_of(nearest, open.end(), [&](RangeRow one) {
        return ranges.group[one] == ranges.group[row];
      });
      if (may_cross(row) && (is_crossed || is_within_like)) {
        note(row);
        if (is_crossed && may_cross(around)) note(around);
      } else if (is_crossed) {
        for (auto one = nearest; one != open.end(); ++one) {
          if (may_cross(*one) && ranges.end[*one] < ranges.end[row]) note(*one);
        }
      }
    }
    stack.enter(row, thread);
  }
  std::vector<std::uint32_t> found;
  for (std::uint32_t i = 0; i < crosses.size(); ++i) {
    if (crosses[i] != 0) found.push_back(i);
  }
  return found;
}

}  // namespace nvspan::reader
