// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/statistics/rank_trend.hpp"

#include "core/statistics/thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace nvspan::core {
namespace {

constexpr std::size_t least_ranks = 24, most_ranks = 256;

// Each value stands for `size` values, whose median it is; what is left at the end is dropped.
Series medians(const Series& values, std::size_t size) {
  Series result;
  for (std::size_t i = 0; i + size <= values.size(); i += size) {
    const auto begin = values.begin() + static_cast<std::ptrdiff_t>(i);
    result.push_back(midpoint_of(Series(begin, begin + static_cast<std::ptrdiff_t>(size))));
  }
  return result;
}

Series ranks(const Series& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  Series result(values.size());
  for (std::size_t i = 0; i < order.size(); ++i) result[order[i]] = static_cast<double>(i);
  return result;
}

}  // namespace

std::optional<SlowChange> find_rank_trend(const Series& logarithms, std::size_t tests) {
  if (logarithms.size() < least_ranks) return std::nullopt;
  const std::size_t bin = (logarithms.size() + most_ranks - 1) / most_ranks;
  const Series values = medians(logarithms, bin);
  const std::size_t count = values.size();
  Series slopes;
  slopes.reserve(count * (count - 1) / 2);
  std::int64_t rises = 0;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = i + 1; k < count; ++k) {
      const double rise = values[k] - values[i];
      rises += (rise > 0) - (rise < 0);
      slopes.push_back(rise / static_cast<double>(k - i));
    }
  }
  const double slope = midpoint_of(std::move(slopes));
  Series residuals = values;
  for (std::size_t i = 0; i < count; ++i) residuals[i] -= slope * static_cast<double>(i);
  const double phi = autocorrelation(ranks(residuals)), n = static_cast<double>(count);
  const double sigma = std::sqrt(n * (n - 1) * (2 * n + 5) / 18 * (1 + phi) / (1 - phi));
  // Autocorrelation near 1 is underestimated around a line, most of all in short series (error
  // rates: tests/answers/test_variation_rates.py).
  const double deviations = 4 + 16 / n;
  const double least =
      std::sqrt(deviations * deviations + 2 * std::log(static_cast<double>(tests)));
  if (std::abs(static_cast<double>(rises)) - 1 < least * sigma ||
      std::abs(slope) * (n - 1) < std::log1p(least_effect)) {
    return std::nullopt;
  }
  const double start = midpoint_of(std::move(residuals));
  SlowChange trend = {ChangeKind::trend, Series(logarithms.size()), {}};
  for (std::size_t i = 0; i < logarithms.size(); ++i) {
    const double place = (static_cast<double>(i) + 0.5) / static_cast<double>(bin) - 0.5;
    trend.fitted[i] = start + slope * place;
  }
  return trend;
}

}  // namespace nvspan::core
