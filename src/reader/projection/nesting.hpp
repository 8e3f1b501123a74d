// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The ranges of one thread that are open while they are walked in the order of their starts. Those
// of different domains, and start/end ranges, overlap without nesting.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

class EnclosingRanges {
 public:
  struct Range {
    std::int64_t start, end;
    std::uint64_t row;
  };

  // The tightest that holds the whole time; null: none. Ranges that never end may lie above it, and
  // so many are looked at.
  const Range* around(std::int64_t start, std::int64_t end) const noexcept {
    const Range* tightest = nullptr;
    std::size_t looked = 0;
    for (std::size_t i = open_.size(); i-- > 0 && looked < most_looked; ++looked) {
      const Range& range = open_[i];
      if (range.end < end || range.start > start) continue;
      if (tightest == nullptr || range.end - range.start < tightest->end - tightest->start) {
        tightest = &range;
      }
    }
    return tightest;
  }
  // The one that began last of those that hold it.
  const Range* innermost(std::int64_t start, std::int64_t end) const noexcept {
    std::size_t looked = 0;
    for (std::size_t i = open_.size(); i-- > 0 && looked < most_looked; ++looked) {
      if (open_[i].end >= end && open_[i].start <= start) return &open_[i];
    }
    return nullptr;
  }

  // Ranges that ended before `now` are forgotten.
  void push(const Range& range, std::int64_t now) {
    while (!open_.empty() && open_.back().end < now) open_.pop_back();
    if (open_.size() >= sweep_at_) {
      open_.erase(std::remove_if(open_.begin(), open_.end(),
                                 [&](const Range& each) { return each.end < now; }),
                  open_.end());
      sweep_at_ = std::max<std::size_t>(2 * open_.size(), 64);
    }
    open_.push_back(range);
  }

 private:
  static constexpr std::size_t most_looked = 4096;

  std::vector<Range> open_;
  std::size_t sweep_at_ = 64;
};

}  // namespace nvspan::reader
