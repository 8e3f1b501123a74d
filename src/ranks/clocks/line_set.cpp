// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/clocks/line_set.hpp"

#include <algorithm>
#include <cstddef>

namespace nvspan::ranks {

LineSet::LineSet(Interval offset, double steepest) {
  corners_ = {Line{offset.low, -steepest}, Line{offset.high, -steepest},
              Line{offset.high, steepest}, Line{offset.low, steepest}};
}

Interval LineSet::at(double x) const noexcept {
  Interval found{corners_.front().at(x), corners_.front().at(x)};
  for (const Line& corner : corners_) {
    const double y = corner.at(x);
    found.low = std::min(found.low, y);
    found.high = std::max(found.high, y);
  }
  return found;
}

bool LineSet::keep(double x, double y, double sign) {
  bool all = true;
  bool none = true;
  for (const Line& corner : corners_) {
    const bool inside = sign * (corner.at(x) - y) >= 0;
    all = all && inside;
    none = none && !inside;
  }
  if (none) return false;
  if (all) return true;
  cut_.clear();
  const std::size_t count = corners_.size();
  for (std::size_t i = 0; i < count; ++i) {
    const Line& from = corners_[i];
    const Line& to = corners_[i + 1 == count ? 0 : i + 1];
    const double before = sign * (from.at(x) - y);
    const double after = sign * (to.at(x) - y);
    if (before >= 0) cut_.push_back(from);
    if ((before >= 0) == (after >= 0)) continue;
    const double part = before / (before - after);
    cut_.push_back(Line{from.offset + part * (to.offset - from.offset),
                        from.drift + part * (to.drift - from.drift)});
  }
  corners_.swap(cut_);
  return true;
}

}  // namespace nvspan::ranks
