// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Order statistics: one definition of each, for every figure of nvspan.
//
// A percentile is the nearest rank: the smallest value that at least this share of the values does
// not exceed. The median is the 50th percentile: of an even number of values, the lower middle one.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

namespace nvspan::core {

// The index of a percentile among `count` values in order; there must be one at least.
inline std::size_t nearest_rank(double fraction, std::size_t count) noexcept {
  // Rounding may lift a product above a whole number: 0.07 * 100 is 7.000000000000001.
  const double rank = std::ceil(fraction * static_cast<double>(count) * (1 - 1e-12));
  return static_cast<std::size_t>(std::max(rank, 1.0)) - 1;
}

// Of one value at least. Reorders them.
template <typename Values>
auto percentile(Values& values, double fraction) {
  const auto place =
      values.begin() + static_cast<std::ptrdiff_t>(nearest_rank(fraction, values.size()));
  std::nth_element(values.begin(), place, values.end());
  return *place;
}

template <typename Values>
auto median(Values& values) {
  return percentile(values, 0.5);
}

// The mean of the two middle values where their number is even. For tables that promise the figures
// of Nsight Systems, which calls it the median, and for distances that are averaged.
template <typename Values>
double midpoint(Values& values) {
  const auto above = percentile(values, 0.5 + 0.5 / static_cast<double>(values.size()));
  return (static_cast<double>(median(values)) + static_cast<double>(above)) / 2;
}

// The standard deviation of a normal distribution whose median distance from `center` is that of
// the values (MAD). Replaces the values by their distances.
template <typename Values>
double robust_deviation(Values& values, typename Values::value_type center) {
  constexpr double deviations_of_distance = 1.4826;
  for (auto& value : values) value = value < center ? center - value : value - center;
  return deviations_of_distance * static_cast<double>(median(values));
}

}  // namespace nvspan::core
