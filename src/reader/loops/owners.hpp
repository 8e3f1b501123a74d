// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which step a range lies in.

#pragma once

#include "reader/loops/loop_steps.hpp"
#include "reader/loops/ranges.hpp"

#include <cstdint>

namespace nvspan::reader {

struct Owners {
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  core::LargeVector<std::uint32_t> step;  // of each range: a number, or none
  core::LargeVector<std::uint8_t> is_doubtful;
  double doubtful = 0;  // of the ranges whose owner the order of events says, the unsure part
};

Owners owners_of(const LoopRanges& ranges, const LoopSteps& steps);

}  // namespace nvspan::reader
