// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Slow changes of a series: a jump, several levels, or a trend.

#pragma once

#include "core/statistics/series.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace nvspan::core {

struct BestSplit {
  double gain = 0;     // by how much it lowers the sum of squares; 0: none
  std::size_t at = 0;  // the first value after it
};

// The split of values[begin:end] into two parts of `least` values or more that lowers the sum of
// squares most.
BestSplit best_split(const Series& values, std::size_t begin, std::size_t end, std::size_t least);

enum class ChangeKind { jump, levels, trend };

struct SlowChange {
  ChangeKind kind;
  Series fitted;                  // of each value, what it would be without noise
  std::vector<std::size_t> cuts;  // of a jump and of levels: where they begin, but for the first
};

// The change of `logarithms`, if autocorrelated (AR(1)) noise does not explain it. `tests`: of how
// many series the strongest change will be taken.
std::optional<SlowChange> find_slow_change(const Series& logarithms, std::size_t tests);

}  // namespace nvspan::core
