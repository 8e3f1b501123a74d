// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/external/clock_map.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace nvspan::record {
namespace {

using Wide = __int128;

std::int64_t within(Wide value) {
  constexpr Wide least = std::numeric_limits<std::int64_t>::min() + 1;
  constexpr Wide most = std::numeric_limits<std::int64_t>::max() - 1;
  return static_cast<std::int64_t>(std::min(std::max(value, least), most));
}

}  // namespace

ClockMap::ClockMap(std::vector<Point> points, double frequency)
    : points_(std::move(points)), ns_per_tick_(1e9 / frequency) {}

std::int64_t ClockMap::ns(std::int64_t own) const {
  if (points_.empty()) return own;
  if (points_.size() == 1) {
    const Wide delta = Wide{own} - points_[0].own;
    constexpr double one = 1.0;
    if (ns_per_tick_ == one) return within(points_[0].ns + delta);
    const auto scaled =
        static_cast<Wide>(std::floor(static_cast<long double>(delta) * ns_per_tick_ + 0.5L));
    return within(points_[0].ns + scaled);
  }
  const auto after =
      std::upper_bound(points_.begin() + 1, points_.end() - 1, own,
                       [](std::int64_t time, const Point& point) { return time < point.own; });
  const Point& to = *after;
  const Point& from = *(after - 1);
  const Wide delta = (Wide{own} - from.own);
  const Wide rise = Wide{to.ns} - from.ns;
  const Wide run = Wide{to.own} - from.own;
  const Wide whole = delta / run;
  return within(from.ns + whole * rise + (delta - whole * run) * rise / run);
}

}  // namespace nvspan::record
