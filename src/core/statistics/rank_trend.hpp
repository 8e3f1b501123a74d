// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A trend by ranks, which bursts of slow values neither hide nor make.

#pragma once

#include "core/statistics/slow_change.hpp"

#include <cstddef>
#include <optional>

namespace nvspan::core {

// The trend of at least 24 `logarithms` by Mann and Kendall's test; its line by Theil and Sen. The
// variance of the test is that of AR(1) noise with the autocorrelation of the ranks around the
// line.
std::optional<SlowChange> find_rank_trend(const Series& logarithms, std::size_t tests);

}  // namespace nvspan::core
