// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/clocks/prior_bounds.hpp"

#include <algorithm>
#include <cmath>

namespace nvspan::ranks {

PriorBounds::PriorBounds(const Prior& prior, std::int64_t base, std::int64_t reference_base,
                         const ClockOptions& options)
    : wander_(options.wander) {
  const std::int64_t shift = base - reference_base;
  if (prior.low != no_begin) always_.low = static_cast<double>(prior.low + shift);
  if (prior.high != no_end) always_.high = static_cast<double>(prior.high + shift);
  for (const MeasuredOffset& each : prior.measured) {
    const auto moment = static_cast<double>(each.at - base);
    const double since = measured_.empty() ? 0 : moment - measured_.front();
    const double slack = wander_ * std::fabs(since);
    const auto low = static_cast<double>(each.low + shift) - slack;
    const auto high = static_cast<double>(each.high + shift) + slack;
    if (measured_.empty()) {
      lines_ = LineSet(Interval{low, high}, options.steepest);
    } else if (!lines_.keep_above(since, low) || !lines_.keep_below(since, high)) {
      // The clock was set, or drifts faster than is believed.
      measured_.clear();
      return;
    }
    measured_.push_back(moment);
  }
}

Interval PriorBounds::at(double moment) const noexcept {
  if (measured_.empty()) return always_;
  double nearest = infinite;
  for (const double each : measured_) nearest = std::min(nearest, std::fabs(moment - each));
  const Interval found = lines_.at(moment - measured_.front());
  const Interval both{std::max(always_.low, found.low - wander_ * nearest),
                      std::min(always_.high, found.high + wander_ * nearest)};
  return both.low <= both.high ? both : always_;
}

}  // namespace nvspan::ranks
