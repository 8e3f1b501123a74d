// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which range holds which, by their times.

#pragma once

#include "reader/loops/ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

// The ranges around the latest one, of those of its lane, such as a thread. They come lane by lane,
// by their starts, the longest first. What only overlaps another is not within it.
class NestingStack {
 public:
  explicit NestingStack(const LoopRanges& ranges) : ranges_(ranges) {}

  void enter(RangeRow row, std::uint64_t lane) {
    leave_ended(row, lane);
    while (!open_.empty() && ranges_.end[open_.back()] < ranges_.end[row]) open_.pop_back();
    open_.push_back(row);
  }
  // Of what entered last.
  RangeRow parent() const { return open_.size() < 2 ? no_range : open_[open_.size() - 2]; }

  // Those that are open as the row begins.
  const std::vector<RangeRow>& open_before(RangeRow row, std::uint64_t lane) {
    leave_ended(row, lane);
    return open_;
  }

 private:
  void leave_ended(RangeRow row, std::uint64_t lane) {
    if (lane != lane_) open_.clear();
    lane_ = lane;
    const std::int64_t start = ranges_.start[row];
    while (!open_.empty() && ranges_.end[open_.back()] <= start && !is_same(open_.back(), row)) {
      open_.pop_back();
    }
  }
  // Of two without a length at one time, the first holds the second.
  bool is_same(RangeRow a, RangeRow b) const {
    return ranges_.start[a] == ranges_.start[b] && ranges_.end[a] == ranges_.end[b];
  }

  const LoopRanges& ranges_;
  std::vector<RangeRow> open_;
  std::uint64_t lane_ = ~std::uint64_t{0};
};

// The groups whose start/end ranges overlap others of their thread; those of `floats` are not
// there.
std::vector<std::uint32_t> crossing_groups(const LoopRanges& ranges,
                                           const std::vector<std::uint8_t>& floats);

}  // namespace nvspan::reader
