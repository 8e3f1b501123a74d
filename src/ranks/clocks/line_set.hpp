// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// All lines `offset + drift * x` that pass above some points and below others: a convex polygon in
// the plane of offset and drift, which each further point cuts.

#pragma once

#include <limits>
#include <vector>

namespace nvspan::ranks {

constexpr double infinite = std::numeric_limits<double>::infinity();

struct Line {
  double offset = 0;
  double drift = 0;

  double at(double x) const noexcept { return offset + drift * x; }
};

struct Interval {
  double low = 0;
  double high = 0;
};

class LineSet {
 public:
  LineSet() = default;  // no line
  LineSet(Interval offset, double steepest);

  // Leaves the lines that are at least, or at most, `y` at `x`. False: there is none, and the set
  // stays as it was.
  bool keep_above(double x, double y) { return keep(x, y, 1); }
  bool keep_below(double x, double y) { return keep(x, y, -1); }

  bool empty() const noexcept { return corners_.empty(); }
  Interval at(double x) const noexcept;  // of a set with lines
  const std::vector<Line>& corners() const noexcept { return corners_; }

 private:
  bool keep(double x, double y, double sign);

  std::vector<Line> corners_;
  std::vector<Line> cut_;  // kept for its memory
};

}  // namespace nvspan::ranks
