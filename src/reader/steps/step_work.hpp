// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The work of GPUs, given to the steps of one process.

#pragma once

#include "core/memory/large_pages.hpp"
#include "reader/steps/steps.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

// A stretch of a step during which the CPU was in one phase.
struct StepStretch {
  std::int64_t start = 0, end = 0;
  std::uint32_t step = 0;
  std::uint32_t range = 0;  // of the phase: of PhaseEnds
  std::uint16_t phase = 0;
  bool waits = false;  // for the GPU
};

// The stretches of one thread, in the order of their times. What is added stays where it is: a
// recording may have ten for each of a million steps.
class Stretches {
 public:
  using Block = core::LargeVector<StepStretch>;

  void push_back(const StepStretch& stretch) {
    if (blocks_.empty() || blocks_.back().size() == blocks_.back().capacity()) {
      const std::size_t last = blocks_.empty() ? 0 : blocks_.back().capacity();
      blocks_.emplace_back().reserve(std::clamp(2 * last, least_block, most_block));
    }
    blocks_.back().push_back(stretch);
  }
  // Of those at the end: the step's.
  void drop(std::uint32_t step);
  void clear() { blocks_.clear(); }

  const std::vector<Block>& blocks() const noexcept { return blocks_; }
  // The one in which a time lies; null: none.
  const StepStretch* at(std::int64_t time) const;

 private:
  static constexpr std::size_t least_block = 256, most_block = 1 << 18;
  std::vector<Block> blocks_;
};

// When the ranges of phases ended; the first stands for none.
using PhaseEnds = core::LargeVector<std::int64_t>;

// A kernel, a copy or a device range: 32 bytes, as a recording may have ten million.
struct StepOp {
  enum class Kind : std::uint8_t { other, to_host, graph };

  std::int64_t start = 0, end = 0;
  std::int64_t launched = 0;
  std::uint32_t thread = 0;  // that launched it
  std::int16_t device = -1;
  std::int8_t phase = -1;  // that its own name stands for
  Kind kind : 2;
  bool is_launch_known : 1;
  bool is_of_replay : 1;   // its launch is that of the range around it
  bool is_waited_for : 1;  // by its thread, which launched nothing else until its end

  StepOp() : kind(Kind::other), is_launch_known(false), is_of_replay(false), is_waited_for(false) {}
};
static_assert(sizeof(StepOp) == 32);

// One with the step and the phase that launched it.
struct OwnedOp {
  std::uint32_t step;
  std::uint16_t phase;
  std::int64_t start, end;
  std::int64_t ahead;   // -1: not known
  std::int64_t behind;  // Steps::not_known
};

// Fills the columns of `steps` about work but `idle`, in any order.
void add_owned(Steps& steps, core::LargeVector<OwnedOp> owned);

// `stretches` of each thread. Fits and fills the columns of `steps` about work.
void add_work(Steps& steps, const std::vector<Stretches>& stretches, const PhaseEnds& ends,
              core::LargeVector<StepOp> ops);

}  // namespace nvspan::reader
