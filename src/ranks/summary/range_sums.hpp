// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Adds up ranges, one after the other, to the figures of a row.

#pragma once

#include "core/log_histogram.hpp"
#include "ranks/summary/packed.hpp"
#include "ranks/summary/summary.hpp"

#include <algorithm>
#include <cstdint>

namespace nvspan::ranks {

struct RangeSums {
  RangeFigures figures;
  core::LogHistogram durations;

  void add(std::int64_t start, std::int64_t end, std::int64_t unix_offset) {
    const std::int64_t ns = std::max<std::int64_t>(0, end - start);
    ++figures.calls;
    figures.sum += ns;
    figures.squares += Wide{ns} * ns;
    figures.shortest = std::min(figures.shortest, ns);
    figures.longest = std::max(figures.longest, ns);
    figures.first = std::min(figures.first, start + unix_offset);
    figures.last = std::max(figures.last, end + unix_offset);
    durations.add(static_cast<std::uint64_t>(ns));
  }
  RangeFigures packed() const {
    RangeFigures row = figures;
    row.total = row.sum - row.nested;
    row.durations = packed_histogram(durations);
    return row;
  }
};

}  // namespace nvspan::ranks
