// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Periods of a series.

#pragma once

#include "core/statistics/series.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace nvspan::core {

struct Period {
  Series profile;  // the median of each place in the period, as many as it is long
};

// The period, of 2 to 256 values, of at least 12 `logarithms` that a random order does not explain.
std::optional<Period> find_period(const Series& logarithms);

// The distance of the ascending `places`, which are 4 or more, if it is always the same and chance
// does not explain it of so many among `count`; 0: it does.
std::size_t exact_distance(const std::vector<std::size_t>& places, std::size_t count);

}  // namespace nvspan::core
