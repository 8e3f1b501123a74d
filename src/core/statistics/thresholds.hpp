// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a variation must reach to be reported.

#pragma once

namespace nvspan::core {

constexpr double least_effect = 0.05;        // of a step
constexpr double least_outlier_cost = 0.02;  // of the time of all steps: what rare slow steps add
constexpr double least_slow_excess = 0.25;   // of a step, by which a slow one is longer
constexpr double least_mode_excess = 0.10;   // of a step, by which those of the slow mode are
constexpr double chance_limit = 0.005;       // of a period, if the order of steps were random

}  // namespace nvspan::core
