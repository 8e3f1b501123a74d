// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/clock/clock_fit.hpp"

#include <algorithm>
#include <cmath>

namespace nvspan::cuda {

namespace {

constexpr size_t most_points = 256;
constexpr int64_t baseline_ns = 10'000'000'000;
constexpr double wander = 1e-6;  // of a rate, from one second to another

}  // namespace

void ClockFit::add(const ClockPoint& point) noexcept {
  if (!points_.empty()) {
    ClockPoint& newest = points_.back();
    const auto distance = static_cast<double>(point.global - newest.global);
    if (distance <= 0) return;
    // Two points this close give no rate, and may even seem to run backwards: the better one is
    // kept.
    if (newest.half_width + point.half_width > distance * nominal_error) {
      if (point.half_width < newest.half_width) newest = point;
      return;
    }
  }
  if (points_.size() >= most_points) points_.erase(points_.begin());
  points_.push_back(point);
}

// Over a short time the measured rate is worse than the nominal one, which is then only moved into
// what the measurement allows.
ClockFit::Rate ClockFit::rate_over(const ClockPoint& first, const ClockPoint& last,
                                   double nominal) noexcept {
  const auto span = static_cast<double>(last.global - first.global);
  if (span <= 0) return {nominal, nominal_error};
  const double measured = static_cast<double>(last.stamp - first.stamp) / span;
  const double error = (first.half_width + last.half_width) / span;
  if (error < nominal_error) return {measured, std::max(error, wander)};
  const double allowed = measured * error;
  return {std::clamp(nominal, measured - allowed, measured + allowed), nominal_error};
}

ClockFit::Rate ClockFit::newest_rate(double nominal) const noexcept {
  const ClockPoint& newest = points_.back();
  const auto first = std::find_if(points_.begin(), points_.end(), [&](const ClockPoint& point) {
    return newest.global - point.global <= baseline_ns;
  });
  return rate_over(*first, newest, nominal);
}

ClockFit::Rate ClockFit::oldest_rate(double nominal) const noexcept {
  const ClockPoint& oldest = points_.front();
  const auto last = std::find_if(points_.rbegin(), points_.rend(), [&](const ClockPoint& point) {
    return point.global - oldest.global <= baseline_ns;
  });
  return rate_over(oldest, *last, nominal);
}

int64_t ClockFit::to_stamp(int64_t global, double nominal, double& uncertainty) const noexcept {
  const auto after =
      std::upper_bound(points_.begin(), points_.end(), global,
                       [](int64_t time, const ClockPoint& point) { return time < point.global; });
  const ClockPoint* near = &points_.front();
  Rate rate{};
  if (after == points_.begin()) {
    rate = oldest_rate(nominal);
  } else if (after == points_.end()) {
    near = &points_.back();
    rate = newest_rate(nominal);
  } else {
    const ClockPoint& before = *(after - 1);
    near = global - before.global < after->global - global ? &before : &*after;
    rate.slope = static_cast<double>(after->stamp - before.stamp) /
                 static_cast<double>(after->global - before.global);
    uncertainty = std::max(before.half_width, after->half_width);
  }
  const auto distance = static_cast<double>(global - near->global);
  if (after == points_.begin() || after == points_.end()) {
    uncertainty = near->half_width + std::fabs(distance) * rate.error;
  }
  return near->stamp + std::llround(distance * rate.slope);
}

double ClockFit::drift_after(double ns, double nominal) const noexcept {
  return ns * newest_rate(nominal).error;
}

}  // namespace nvspan::cuda
