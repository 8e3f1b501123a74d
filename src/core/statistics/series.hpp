// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The noise of a series of measurements: its spread, strays and autocorrelation.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::core {

using Series = std::vector<double>;

double mean(const Series& values);

// Mean square distance from the mean.
double variance(const Series& values);

double midpoint_of(Series values);

// Standard deviation by the median distance from the median. The midpoint: of few values, the lower
// middle one is too low.
double robust_sigma(const Series& values);

// Replaces isolated strays, more than 4 robust deviations from the running median, by that median.
Series without_strays(const Series& values);

// Lag-1 autocorrelation, corrected for its bias in a short series, from 0 to 0.98.
double autocorrelation(const Series& residuals);

// Averages of `size` values each; what is left at the end is dropped.
Series averages(const Series& values, std::size_t size);

// xorshift64*: the same shuffles everywhere.
class Shuffler {
 public:
  void shuffle(std::vector<float>& values);

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15u;
};

}  // namespace nvspan::core
