// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The steps of a loop, once it is known what they are.

#pragma once

#include "reader/loops/ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace nvspan::reader {

struct LoopSteps {
  enum class Kind : std::uint8_t {
    ranges,
    cycle,  // ranges in turn, without one around them
    whole,  // no steps: all of a thread
  };
  Kind kind = Kind::ranges;
  RangeRows rows;                                      // of ranges alone
  core::LargeVector<std::int64_t> thread, start, end;  // by start
  std::uint64_t evaluation = 0;           // ranges of the name that lie within evaluation
  bool is_floating = false;               // whether one of `rows` is
  std::vector<std::uint32_t> end_thread;  // empty: each ends in its own thread

  std::size_t size() const noexcept { return start.size(); }
};

// Of the rows of a candidate.
LoopSteps steps_of(const LoopRanges& ranges, const RangeRows& rows);
LoopSteps whole_of(const LoopRanges& ranges, std::uint32_t thread);

struct LoopCycle {
  std::vector<std::uint32_t> groups;  // of a round, each once, in turn
  LoopSteps steps;
};

// Siblings that follow each other in one order, round after round, without a range around them;
// `within` null: those of the range of the thread that holds the most.
std::optional<LoopCycle> find_cycle(const LoopRanges& ranges, std::uint32_t thread,
                                    const RangeRows* within);

}  // namespace nvspan::reader
