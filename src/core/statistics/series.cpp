// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/statistics/series.hpp"

#include "core/statistics/order.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numeric>
#include <utility>

namespace nvspan::core {

double mean(const Series& values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

double variance(const Series& values) {
  const double center = mean(values);
  double sum = 0;
  for (const double value : values) sum += (value - center) * (value - center);
  return sum / static_cast<double>(values.size());
}

double midpoint_of(Series values) { return midpoint(values); }

double robust_sigma(const Series& values) {
  if (values.empty()) return 0;
  constexpr double sigma_of_mad = 1.4826;
  const double center = midpoint_of(values);
  Series distances = values;
  for (double& value : distances) value = std::abs(value - center);
  return sigma_of_mad * midpoint(distances);
}

Series without_strays(const Series& values) {
  constexpr double limit = 4, least_sigma = 1e-4;
  const std::size_t count = values.size(), half = count >= 50 ? 5 : 3, width = 2 * half + 1;
  if (count < width) return values;
  Series running(count), residuals(count);
  std::array<double, 11> window = {};
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < width; ++k) {  // mirrored at the ends
      const auto place = static_cast<std::ptrdiff_t>(i + k) - static_cast<std::ptrdiff_t>(half);
      const auto inside = static_cast<std::size_t>(std::abs(place));
      window[k] = values[inside < count ? inside : 2 * (count - 1) - inside];
    }
    std::nth_element(window.begin(), window.begin() + half, window.begin() + width);
    running[i] = window[half];
    residuals[i] = values[i] - running[i];
  }
  const double most = limit * std::max(robust_sigma(residuals), least_sigma);
  for (std::size_t i = 0; i < count; ++i) {
    if (std::abs(residuals[i]) <= most) running[i] = values[i];
  }
  return running;
}

double autocorrelation(const Series& residuals) {
  const std::size_t count = residuals.size();
  if (count < 4) return 0;
  const double center = mean(residuals);
  double power = 0, lagged = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = residuals[i] - center;
    power += value * value;
    if (i > 0) lagged += value * (residuals[i - 1] - center);
  }
  if (power <= 0) return 0;
  const double rho = lagged / power;
  return std::clamp(rho + (1 + 3 * rho) / static_cast<double>(count), 0.0, 0.98);
}

Series averages(const Series& values, std::size_t size) {
  Series result(values.size() / size);
  for (std::size_t i = 0; i < values.size() / size * size; ++i) result[i / size] += values[i];
  for (double& value : result) value /= static_cast<double>(size);
  return result;
}

void Shuffler::shuffle(std::vector<float>& values) {
  for (std::size_t left = values.size(); left > 1; --left) {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    const std::uint64_t number = (state_ * 0x2545F4914F6CDD1Du) >> 32;
    std::swap(values[left - 1], values[number * left >> 32]);
  }
}

}  // namespace nvspan::core
