// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The work of GPUs, given to the steps of one process.

#pragma once

#include "reader/steps/steps.hpp"

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
// When the ranges of phases ended; the first stands for none.
using PhaseEnds = std::vector<std::int64_t>;

// A kernel, a copy or a device range.
struct StepOp {
  std::int64_t start = 0, end = 0;
  std::int64_t launched = 0;
  std::uint32_t thread = 0;  // that launched it
  std::int32_t device = -1;
  std::int32_t phase = -1;  // that its own name stands for
  bool is_launch_known = false;
};

// `stretches` of each thread, in the order of their times. Adds to the columns of `steps`, which
// have rows for the steps of all stretches.
void add_work(Steps& steps, const std::vector<std::vector<StepStretch>>& stretches,
              const PhaseEnds& ends, const std::vector<StepOp>& ops);

}  // namespace nvspan::reader
