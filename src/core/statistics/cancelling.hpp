// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Changes of two parts of a step that leave the step as long as it was.

#pragma once

#include "core/statistics/series.hpp"

#include <cstddef>
#include <optional>
#include <vector>

namespace nvspan::core {

struct PartChange {
  std::size_t part;
  double from, to;
};

struct Cancelling {
  PartChange grows, shrinks;
  bool over_time;  // from the first to the last quarter; else from step to step: 10th and 90th
                   // percentile
};

// `parts`: a series as long as `steps` for each part.
std::optional<Cancelling> find_cancelling(const Series& steps, const std::vector<Series>& parts);

}  // namespace nvspan::core
