// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/statistics/cancelling.hpp"

#include "core/statistics/order.hpp"
#include "core/statistics/slow_change.hpp"
#include "core/statistics/thresholds.hpp"

#include <algorithm>
#include <cmath>

namespace nvspan::core {
namespace {

// The change of a part over the run, of `least` ns or more; equal ends: none.
PartChange change_over_time(const std::vector<Series>& parts, std::size_t part, double least) {
  constexpr double least_present = 0.9;
  const Series& times = parts[part];
  const std::size_t count = times.size(), quarter = std::max<std::size_t>(2, count / 4);
  const auto present =
      std::count_if(times.begin(), times.end(), [](double time) { return time > 0; });
  if (count < 2 * quarter ||
      static_cast<double>(present) < least_present * static_cast<double>(count)) {
    return {part, 0, 0};
  }
  Series early(times.begin(), times.begin() + static_cast<std::ptrdiff_t>(quarter));
  Series late(times.end() - static_cast<std::ptrdiff_t>(quarter), times.end());
  const PartChange change = {part, median(early), median(late)};
  if (std::abs(change.to - change.from) < least) return {part, 0, 0};
  Series logarithms = times;
  for (double& time : logarithms) time = std::log(std::max(time, 1.0));
  return find_slow_change(logarithms, parts.size()) ? change : PartChange{part, 0, 0};
}

// Whether one part loses in a step what the other one gains: 6 deviations, 1e-8 a pair by chance.
bool trade(const Series& one, const Series& other, double sigma, double other_sigma) {
  constexpr std::size_t fewest_steps = 12;
  constexpr double most_left = 0.5, least_correlation = 0.7, least_deviations = 6;
  const std::size_t count = one.size();
  if (count < fewest_steps) return false;
  Series sums = one;
  double product = 0;
  const double center = mean(one), other_center = mean(other);
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] += other[i];
    product += (one[i] - center) * (other[i] - other_center);
  }
  if (std::sqrt(variance(sums)) > most_left * std::max(sigma, other_sigma)) return false;
  const double r = product / (static_cast<double>(count) * sigma * other_sigma);
  const double unexplained = std::max(1e-9, 1 - r * r);
  return r < -least_correlation &&
         -r * std::sqrt(static_cast<double>(count - 2) / unexplained) > least_deviations;
}

}  // namespace

std::optional<Cancelling> find_cancelling(const Series& steps, const std::vector<Series>& parts) {
  Series durations = steps;
  if (durations.empty()) return std::nullopt;
  const double least = least_effect * median(durations);
  PartChange grows = {0, 0, 0}, shrinks = {0, 0, 0};
  for (std::size_t part = 0; part < parts.size(); ++part) {
    const PartChange change = change_over_time(parts, part, least);
    const double growth = change.to - change.from;
    if (growth >= least && growth > grows.to - grows.from) grows = change;
    if (-growth >= least && growth < shrinks.to - shrinks.from) shrinks = change;
  }
  if (grows.to > grows.from && shrinks.from > shrinks.to) return Cancelling{grows, shrinks, true};
  std::vector<double> sigmas;
  for (const Series& part : parts) sigmas.push_back(std::sqrt(variance(part)));
  for (std::size_t i = 0; i < parts.size(); ++i) {
    for (std::size_t k = 0; k < i; ++k) {
      if (std::min(sigmas[i], sigmas[k]) < least) continue;
      if (!trade(parts[i], parts[k], sigmas[i], sigmas[k])) continue;
      Series one = parts[i], other = parts[k];
      const double low = percentile(one, 0.1), high = percentile(one, 0.9);
      const double other_low = percentile(other, 0.1), other_high = percentile(other, 0.9);
      return Cancelling{{i, low, high}, {k, other_high, other_low}, false};
    }
  }
  return std::nullopt;
}

}  // namespace nvspan::core
