// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The work of GPUs in the order in which it began, with its launches.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/projection/cpu_ranges.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace nvspan::reader {

struct LaunchedOp {
  std::int64_t start = 0, end = 0;
  std::int64_t launched = 0;
  std::uint64_t launch = 0;  // the number of the call
  std::uint64_t number = 0;  // its own, among all work of the recording
  std::uint32_t site = 0;
  std::uint32_t process = 0;
  std::uint32_t thread = 0;  // that launched it: of CpuRanges; no_place: it has no range
  std::int32_t device = -1;
  bool is_launched = false;  // its launch is known
  // Of a replay of a graph: when and on which thread (of CpuRanges) its launch was captured;
  // no_place: not known. `capture_began` 0: it was not captured, but made by its own call.
  std::int64_t captured = 0, capture_began = 0;
  std::uint32_t capturer = CpuRanges::no_place;
};

// The innermost of the ranges that a capture was in when it took the work's launch, and the next
// one around it; those that do not lie within the capture do not count. no_place: there is none.
std::uint32_t captured_in(const CpuRanges& ranges, const LaunchedOp& op);
std::uint32_t captured_around(const CpuRanges& ranges, const LaunchedOp& op, std::uint32_t place);

class OpTaker {
 public:
  virtual ~OpTaker() = default;
  virtual void take(const LaunchedOp& op) = 0;
};

// Hands over the work of the sites, process by process in the order of its starts. False: it is so
// far out of order in the file that it was not, which `keeps_all` avoids at the price of memory.
bool scan_work(const Recording& recording, const std::vector<std::uint8_t>& sites,
               const CpuRanges& ranges, bool keeps_all, OpTaker& to);

// The time that spans cover, which come in the order of their starts.
struct CoveredTime {
  std::int64_t total = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();

  void add(std::int64_t start, std::int64_t end) {
    first = std::min(first, start);
    if (end <= last) return;
    total += end - std::max(start, last);
    last = end;
  }
};

}  // namespace nvspan::reader
