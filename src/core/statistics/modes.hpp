// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Two modes of a series.

#pragma once

#include "core/statistics/series.hpp"

#include <optional>

namespace nvspan::core {

// What separates the values of a slow mode from the others, if at least 10 `logarithms` have two
// modes that differ by 10 % and hold 8 % of them each.
std::optional<double> find_mode_limit(const Series& logarithms);

}  // namespace nvspan::core
