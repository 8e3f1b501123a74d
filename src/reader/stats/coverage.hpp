// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The time that intervals cover, which may overlap and come in any order.

#pragma once

#include "core/memory/path_table.hpp"
#include "reader/scan/range_scan.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <unordered_map>
#include <vector>

namespace nvspan::reader {

class Coverage {
 public:
  static constexpr std::int64_t nothing_settled = std::numeric_limits<std::int64_t>::min();

  // No later call adds what begins before `settled`: what ends before it takes no more memory.
  void add(std::int64_t begin, std::int64_t end, std::int64_t settled = nothing_settled) {
    // Ranges that follow each other, and calls one after another of few at a time, merge here.
    if (!intervals_.empty() && begin >= intervals_.back().begin && begin <= intervals_.back().end) {
      intervals_.back().end = std::max(intervals_.back().end, end);
      return;
    }
    intervals_.push_back({begin, end});
    if (intervals_.size() < limit_) return;
    merge();
    settle(settled);
    limit_ = std::max(least_limit, 2 * intervals_.size());
  }

  std::int64_t time() {
    merge();
    settle(std::numeric_limits<std::int64_t>::max());
    return settled_time_;
  }

 private:
  struct Interval {
    std::int64_t begin, end;
  };
  static constexpr std::size_t least_limit = 4096;

  void merge() {
    std::sort(intervals_.begin(), intervals_.end(),
              [](const Interval& a, const Interval& b) { return a.begin < b.begin; });
    std::size_t merged = 0;
    for (const Interval& interval : intervals_) {
      if (merged > 0 && interval.begin <= intervals_[merged - 1].end) {
        intervals_[merged - 1].end = std::max(intervals_[merged - 1].end, interval.end);
      } else {
        intervals_[merged++] = interval;
      }
    }
    intervals_.resize(merged);
  }
  void settle(std::int64_t before) {
    std::size_t settled = 0;
    for (; settled < intervals_.size() && intervals_[settled].end <= before; ++settled) {
      settled_time_ += intervals_[settled].end - intervals_[settled].begin;
    }
    intervals_.erase(intervals_.begin(), intervals_.begin() + static_cast<std::ptrdiff_t>(settled));
  }

  std::vector<Interval> intervals_;
  std::size_t limit_ = least_limit;
  std::int64_t settled_time_ = 0;
};

// The coverage of rows, for each of their threads or devices, in one pass of a RangeScan.
class RowCoverage {
 public:
  void begin_thread(std::uint32_t thread) {
    thread_ = thread;
    settled_ = Coverage::nothing_settled;
  }
  // No start/end range is open now: those of this thread that are still to come begin later.
  void all_ended(std::int64_t now) { settled_ = now; }
  void add_span(std::uint64_t row, const ScannedRange& range) {
    const bool is_own = range.thread == thread_;  // else its end was on another thread
    rows_[core::PathKey{row, range.thread}].add(range.start, range.end,
                                                is_own ? settled_ : Coverage::nothing_settled);
  }
  void add(std::uint64_t row, std::uint64_t device, std::int64_t begin, std::int64_t end) {
    rows_[core::PathKey{row, device}].add(begin, end);
  }
  // Calls use(row, time) for each thread and device of each row, and forgets them.
  template <typename Use>
  void finish(const Use& use) {
    for (auto& [key, coverage] : rows_) use(key.from, coverage.time());
    rows_.clear();
  }

 private:
  std::unordered_map<core::PathKey, Coverage, core::PathHash> rows_;
  std::uint32_t thread_ = 0;
  std::int64_t settled_ = Coverage::nothing_settled;
};

}  // namespace nvspan::reader
