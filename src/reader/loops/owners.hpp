// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which step a range lies in.

#pragma once

#include "reader/loops/loop_steps.hpp"
#include "reader/loops/ranges.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::reader {

struct Owners {
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  core::LargeVector<std::uint32_t> step;  // of each range: a number, or none
  core::LargeVector<std::uint8_t> is_doubtful;
  bool doubts(RangeRow row) const { return !is_doubtful.empty() && is_doubtful[row] != 0; }
  double doubtful = 0;  // of the ranges whose owner the order of events says, the unsure part
};

Owners owners_of(const LoopRanges& ranges, const LoopSteps& steps);

// Stretches of threads in which they surely work for one step: those of push/pop ranges that are in
// it without a doubt, as no other task runs meanwhile. Those within another one are left out.
struct OwnedStretches {
  core::LargeVector<std::int64_t> step, thread, start, end;
};
OwnedStretches owned_stretches(const LoopRanges& ranges, const LoopSteps& steps,
                               const Owners& owners);

// Which step holds a range, where steps do not overlap on their threads.
class OwnerSearch {
 public:
  OwnerSearch(const LoopRanges& ranges, const LoopSteps& steps);

  // That have steps, each once.
  std::vector<std::uint32_t> threads() const;
  void begin_thread(std::uint32_t thread);
  // Of the thread's rows in their order.
  std::uint32_t owner_of(RangeRow row) {
    if (is_whole_) return ranges_.is_floating(row) ? Owners::none : 0;
    while (next_ != end_ && steps_.start[*next_] <= ranges_.start[row]) ++next_;
    if (next_ == begin_ || ranges_.is_backward(row)) return Owners::none;
    const std::uint32_t step = *(next_ - 1);
    if (ranges_.end[row] > steps_.end[step]) return Owners::none;
    if (steps_.rows.empty()) return step;
    // A range around the step may have the step's own times: then it comes before it.
    return row <= steps_.rows[step] || ranges_.is_floating(row) ? Owners::none : step;
  }

 private:
  using Steps = core::LargeVector<std::uint32_t>;

  const LoopRanges& ranges_;
  const LoopSteps& steps_;
  const bool is_whole_;
  Steps order_;  // by thread and start
  Steps::const_iterator begin_, next_, end_;
};

}  // namespace nvspan::reader
