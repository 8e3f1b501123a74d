// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/statistics/modes.hpp"

#include "core/statistics/slow_change.hpp"
#include "core/statistics/thresholds.hpp"

#include <algorithm>
#include <cmath>

namespace nvspan::core {

std::optional<double> find_mode_limit(const Series& logarithms) {
  constexpr std::size_t least_values = 10, few_values = 40;
  constexpr double least_share = 0.08, strays = 0.05, least_sigma = 1e-4;
  const std::size_t count = logarithms.size();
  if (count < least_values) return std::nullopt;
  Series ordered = logarithms;
  std::sort(ordered.begin(), ordered.end());
  const auto total = static_cast<double>(count);
  const auto least =
      std::max<std::size_t>(3, static_cast<std::size_t>(std::ceil(least_share * total)));
  const BestSplit split = best_split(ordered, 0, count, least);  // least squares within: Otsu
  if (split.gain <= 0) return std::nullopt;
  // A few strays must neither make nor hide a mode.
  const auto trimmed = [&](std::size_t size) {
    return static_cast<std::ptrdiff_t>(strays * static_cast<double>(size));
  };
  const auto middle = ordered.begin() + static_cast<std::ptrdiff_t>(split.at);
  const Series low(ordered.begin() + trimmed(split.at), middle);
  const Series high(middle, ordered.end() - trimmed(count - split.at));
  const auto unbiased = [](const Series& values) {
    const auto size = static_cast<double>(values.size());
    return variance(values) * size / (size - 1);
  };
  const double distance = mean(high) - mean(low);
  const double sigma = std::sqrt((unbiased(low) + unbiased(high)) / 2);
  // Ashman's distance of the best split, which one mode exceeds in less than 1 of 1000 series, or
  // more often where noise is autocorrelated, as it clumps.
  const double least_distance =
      (4.5 + 36 / total) * (autocorrelation(logarithms) > 0.5 ? 1.6 : 1.0);
  const double gap = ordered[split.at] - ordered[split.at - 1];
  if (distance < std::log1p(least_mode_excess) ||
      distance < least_distance * std::max(sigma, least_sigma) ||
      (count < few_values && gap < 0.25 * distance)) {
    return std::nullopt;
  }
  return (ordered[split.at] + ordered[split.at - 1]) / 2;
}

}  // namespace nvspan::core
