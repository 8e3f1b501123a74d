// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A part of a recording's tables, as tables.

#pragma once

#include "record/tables.hpp"

#include <cstdint>
#include <limits>
#include <vector>

namespace nvspan {

struct Selection {
  std::vector<bool> sites;     // empty: all
  std::vector<bool> counters;  // likewise
  std::vector<bool> threads;
  std::int64_t from = std::numeric_limits<std::int64_t>::min();
  std::int64_t to = std::numeric_limits<std::int64_t>::max();
  std::int64_t shortest = 0;  // ns, of ranges
};

// A range's parent is the innermost of those around it that are left.
Tables select_rows(const Tables& tables, const Selection& selection);

// The ranges of which `keep` holds.
RangeTable select_ranges(const RangeTable& ranges, const std::vector<bool>& keep);

}  // namespace nvspan
