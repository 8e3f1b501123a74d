// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/statistics/period.hpp"

#include "core/statistics/thresholds.hpp"

#include <algorithm>
#include <cmath>

namespace nvspan::core {
namespace {

constexpr std::size_t most_folded = 2048, longest_period = 256;
// Each of two scores must exceed those of all shuffles: 1 of 400 does by chance.
constexpr int shuffles = 399;
static_assert(2.0 / (shuffles + 1) <= chance_limit);

// How much a series repeats after `period` values: by its slowest place, and by all places.
struct Score {
  float slowest = 0, profile = 0;
  std::size_t slowest_period = 0, profile_period = 0;
};

// The best scores of all periods of a series with the mean 0 and the deviation 1.
Score score_periods(const std::vector<float>& values, std::size_t longest) {
  Score best;
  std::vector<float> sums(longest);
  for (std::size_t period = 2; period <= longest; ++period) {
    const std::size_t cycles = values.size() / period;
    std::copy_n(values.begin(), period, sums.begin());
    for (std::size_t cycle = 1; cycle < cycles; ++cycle) {
      const float* const row = values.data() + cycle * period;
      for (std::size_t i = 0; i < period; ++i) sums[i] += row[i];
    }
    float largest = sums[0], squares = 0;
    for (std::size_t i = 0; i < period; ++i) {
      largest = std::max(largest, sums[i]);
      squares += sums[i] * sums[i];
    }
    const auto length = static_cast<float>(period), rounds = static_cast<float>(cycles);
    const float slowest = largest / std::sqrt(rounds) - std::sqrt(2 * std::log(length + 1));
    const float profile = (squares / rounds - length) / std::sqrt(2 * length);
    if (slowest > best.slowest) best.slowest = slowest, best.slowest_period = period;
    if (profile > best.profile) best.profile = profile, best.profile_period = period;
  }
  return best;
}

// Wandering must not look periodic (AR(1) whitening), nor may strays decide (clipping).
std::vector<float> whitened(const Series& values) {
  constexpr double least_phi = 0.2, clip = 6;
  double phi = autocorrelation(without_strays(values));
  if (phi <= least_phi) phi = 0;
  Series white(values.size() - 1);
  for (std::size_t i = 0; i < white.size(); ++i) white[i] = values[i + 1] - phi * values[i];
  const double center = midpoint_of(white);
  const double limit =
      clip * std::max({robust_sigma(white), 0.25 * std::sqrt(variance(white)), 1e-4});
  for (double& value : white) value = std::clamp(value - center, -limit, limit);
  const double middle = mean(white), sigma = std::sqrt(variance(white));
  if (sigma <= 0) return {};
  std::vector<float> result;
  result.reserve(white.size());
  for (const double value : white) result.push_back(static_cast<float>((value - middle) / sigma));
  return result;
}

}  // namespace

std::optional<Period> find_period(const Series& logarithms) {
  constexpr std::size_t least_values = 12;
  constexpr float least_slowest = 2.0F, least_profile = 4.5F;  // lower ones are never beyond chance
  if (logarithms.size() < least_values) return std::nullopt;
  const std::size_t count = std::min(logarithms.size(), most_folded);
  const std::size_t longest = std::min(count / 4, longest_period);
  std::vector<float> values =
      whitened(Series(logarithms.begin(), logarithms.begin() + static_cast<std::ptrdiff_t>(count)));
  if (values.empty()) return std::nullopt;
  const Score best = score_periods(values, longest);
  if (best.slowest < least_slowest && best.profile < least_profile) return std::nullopt;
  bool slowest = true, profile = true;  // whether no shuffle reached the score
  Shuffler shuffler;
  for (int i = 0; i < shuffles && (slowest || profile); ++i) {
    shuffler.shuffle(values);
    const Score chance = score_periods(values, longest);
    slowest = slowest && chance.slowest < best.slowest;
    profile = profile && chance.profile < best.profile;
  }
  const bool by_slowest = slowest && best.slowest > least_slowest;
  if (!by_slowest && !profile) return std::nullopt;
  const std::size_t period = by_slowest ? best.slowest_period : best.profile_period;
  std::vector<Series> places(period);
  for (std::size_t i = 0; i < logarithms.size(); ++i) places[i % period].push_back(logarithms[i]);
  Period found;
  for (Series& place : places) found.profile.push_back(midpoint_of(std::move(place)));
  return found;
}

std::size_t exact_distance(const std::vector<std::size_t>& places, std::size_t count) {
  if (places.size() < 4) return 0;
  const std::size_t distance = places[1] - places[0], steps = places.size() - 1;
  if (distance < 2) return 0;
  for (std::size_t i = 1; i < places.size(); ++i) {
    if (places[i] - places[i - 1] != distance) return 0;
  }
  double progressions = 0;  // so many of the choices of as many places have one distance
  for (std::size_t each = 1; each <= count / steps; ++each) {
    if (count > steps * each) progressions += static_cast<double>(count - steps * each);
  }
  const auto total = static_cast<double>(count), chosen = static_cast<double>(places.size());
  const double choices =
      std::lgamma(total + 1) - std::lgamma(chosen + 1) - std::lgamma(total - chosen + 1);
  return std::log(std::max(1.0, progressions)) - choices < std::log(chance_limit) ? distance : 0;
}

}  // namespace nvspan::core
