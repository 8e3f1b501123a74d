// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Work of the GPU in the order in which one thread launched it, and what any stretch of it comes
// to.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

struct LaunchedOp {
  std::int64_t called = 0, returned = 0;  // the call that launched it
  std::int64_t start = 0, end = 0;        // on the device
  std::uint64_t call = 0;                 // the same for all that one call launched
  std::uint64_t row = 0;
};

struct WorkTotals {
  std::int64_t first = 0, last = 0;  // the first start, the last end
  std::int64_t sum = 0;              // of the durations
  std::int64_t busy = 0;             // during which one at least was under way
  std::uint64_t ops = 0, calls = 0;
};

class LaunchedWork {
 public:
  // Sorts them; memory of a few words for each.
  explicit LaunchedWork(std::vector<LaunchedOp> ops);

  const std::vector<LaunchedOp>& ops() const noexcept { return ops_; }

  // What was called within a time: from ops()[begin] on, to the end that is returned. `begin` may
  // only grow from call to call.
  std::size_t end_of(std::size_t begin, std::int64_t until) const;

  WorkTotals totals(std::size_t begin, std::size_t end) const;

 private:
  std::int64_t busy(std::size_t begin, std::size_t end) const;

  std::vector<LaunchedOp> ops_;
  std::vector<std::int64_t> sums_;      // of all before each
  std::vector<std::uint32_t> calls_;    // likewise, calls that began there
  std::vector<std::uint32_t> stretch_;  // within one each begins when the one before is over
  // Trees of the smallest start and the largest end, the leaves behind the inner nodes.
  std::vector<std::int64_t> first_, last_;
};

}  // namespace nvspan::reader
