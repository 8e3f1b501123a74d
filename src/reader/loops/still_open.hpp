// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges that had not ended: how long they have taken so far.

#pragma once

#include "reader/loops/ranges.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::reader {

// Those of one name in one thread.
struct OpenSum {
  std::uint32_t thread = 0;
  std::uint32_t site = 0;  // of the first
  std::uint64_t ranges = 0;
  std::int64_t begin = 0, end = 0;  // of the longest
  std::int64_t self = 0;            // in no other range of the thread
};

// The longest first.
std::vector<OpenSum> find_open(const Recording& recording, const LoopRanges& ranges);

}  // namespace nvspan::reader
