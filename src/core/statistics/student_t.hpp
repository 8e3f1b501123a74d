// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace nvspan::core {

// The probability that Student's t is as far from zero as `t`, on either side. Infinite `freedom`:
// the normal distribution.
double t_two_sided(double t, double freedom);

// The t that is exceeded with the probability `chance`, at most 0.5.
double t_quantile(double chance, double freedom);

}  // namespace nvspan::core
