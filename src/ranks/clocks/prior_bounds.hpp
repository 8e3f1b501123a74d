// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What is known beforehand of a clock's offset, at any moment of it.

#pragma once

#include "ranks/clocks/clock_solver.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::ranks {

// Offsets and moments are in ns since the clock's base and the reference's, as those of a Fit. A
// drift that is measured at two moments or more is taken for steady, but for the wander that the
// options allow since the nearest of them; one that is not measured may be as large as they
// believe.
class PriorBounds {
 public:
  PriorBounds() = default;  // nothing is known
  PriorBounds(const Prior& prior, std::int64_t base, std::int64_t reference_base,
              const ClockOptions& options);

  Interval at(double moment) const noexcept;

 private:
  Interval always_{-infinite, infinite};
  std::vector<double> measured_;  // moments
  LineSet lines_;                 // by the time since the first of them
  double wander_ = 0;
};

}  // namespace nvspan::ranks
