// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/statistics/cycle.hpp"

#include "core/statistics/thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace nvspan::core {
namespace {

// The correlation with a ramp of the rotation of the profile that is most a ramp.
double ramp_correlation(const Series& profile) {
  const std::size_t length = profile.size();
  if (length < 4) return 0;  // three places in a row are a ramp too easily
  const double center = mean(profile), middle = static_cast<double>(length - 1) / 2;
  const double power = variance(profile) * static_cast<double>(length);
  double ramp_power = 0, best = 0;
  for (std::size_t i = 0; i < length; ++i) {
    ramp_power += (static_cast<double>(i) - middle) * (static_cast<double>(i) - middle);
  }
  for (std::size_t shift = 0; shift < length; ++shift) {
    double product = 0;
    for (std::size_t i = 0; i < length; ++i) {
      product += (profile[(i + shift) % length] - center) * (static_cast<double>(i) - middle);
    }
    const double correlation = product / std::sqrt(power * ramp_power);
    if (std::abs(correlation) > std::abs(best)) best = correlation;
  }
  return best;
}

// Whether most steps at slow places are slow, and few of the others.
bool is_consistent(const Series& logarithms, const Series& profile, double half) {
  double slow = 0, others = 0, slow_above = 0, others_above = 0;
  for (std::size_t i = 0; i < logarithms.size(); ++i) {
    const bool is_slow = profile[i % profile.size()] > half, above = logarithms[i] > half;
    (is_slow ? slow : others) += 1;
    if (above) (is_slow ? slow_above : others_above) += 1;
  }
  return slow_above > 0.7 * slow && others_above < 0.3 * others;
}

}  // namespace

std::optional<Cycle> judge_cycle(const Series& profile, const Series& logarithms) {
  constexpr double least_ramp = 0.93;  // one slow place of 4 has 0.77, two of 4 have 0.89
  const std::size_t length = profile.size();
  const auto [low, high] = std::minmax_element(profile.begin(), profile.end());
  const double half = (*low + *high) / 2, ramp = ramp_correlation(profile);
  Cycle cycle = {std::vector<CyclePlace>(length, CyclePlace::low), *high - *low,
                 std::abs(ramp) >= least_ramp, ramp > 0};
  if (cycle.spread < std::log1p(least_effect)) return std::nullopt;
  if (!cycle.is_sawtooth) {
    for (std::size_t i = 0; i < length; ++i) {
      if (profile[i] > half) cycle.places[i] = CyclePlace::high;
    }
    return is_consistent(logarithms, profile, half) ? std::optional(cycle) : std::nullopt;
  }
  std::vector<std::size_t> order(length);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(),
                   [&](std::size_t a, std::size_t b) { return profile[a] < profile[b]; });
  const std::size_t third = std::max<std::size_t>(1, length / 3);
  for (std::size_t i = third; i < length; ++i) {
    cycle.places[order[i]] = i + third < length ? CyclePlace::between : CyclePlace::high;
  }
  return cycle;
}

}  // namespace nvspan::core
