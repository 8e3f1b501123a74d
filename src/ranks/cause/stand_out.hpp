// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Outlier test for ranks: is a rank slower than the others beyond chance? Trimmed block means,
// corrected for autocorrelation.

#pragma once

#include "ranks/cause/excess.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::ranks {

// Of one rank.
struct Standing {
  double mean = 0;      // ns of a step: the mean of blocks of steps, without a fifth at each end
  double error = 0;     // its standard error
  double chance = 1;    // at most: that one of so many ranks that are alike stands out as much
  bool stands = false;  // that is below alpha
};

struct Standings {
  std::vector<Standing> ranks;
  std::size_t block = 0;   // steps of a block: neighbours that are alike are in one
  std::size_t blocks = 0;  // 0: there are too few steps for any statement
  double needed = 0;       // standard errors that a mean must be above zero to stand out
  double half = 0;         // standard errors on each side that hold the mean with 95 % probability
};

constexpr std::size_t fewest_blocks = 20;

// `excess`: by rank and step, in ns. `alpha`: how probable a statement about some rank may be where
// all are alike. The steps are those of `chosen`. The same result for the same steps.
Standings stand_out(const Series& excess, const std::vector<std::uint32_t>& chosen, double alpha);

}  // namespace nvspan::ranks
