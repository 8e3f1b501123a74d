// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Times of one clock in ticks of another, from moments at which both were read, and how far off
// they may be.

#include <cstdint>
#include <vector>

namespace nvspan::cuda {

// `global` was read half-way between two readings of the other clock, whose middle is `stamp`.
struct ClockPoint {
  int64_t global;     // ns
  int64_t stamp;      // ticks
  double half_width;  // ns: half of the time between the two readings
};

class ClockFit {
 public:
  // Two clocks that count the same seconds differ by no more, whatever a short measurement says.
  static constexpr double nominal_error = 100e-6;

  // In the order of time; older than the newest is ignored. Of points that are too close to tell a
  // rate the best is kept, so that times that follow each other do so in ticks as well.
  void add(const ClockPoint& point) noexcept;
  bool empty() const noexcept { return points_.empty(); }

  // The ticks at `global`, and how many ns they may be off. `nominal` is how many ticks a ns ought
  // to have. Between two points they are interpolated; outside them the rate over up to ten seconds
  // goes on, and the uncertainty grows with the distance.
  int64_t to_stamp(int64_t global, double nominal, double& uncertainty) const noexcept;

  // How many ns of that are due to a distance beyond the newest point.
  double drift_after(double ns, double nominal) const noexcept;

 private:
  struct Rate {
    double slope;  // ticks a ns
    double error;  // relative
  };
  static Rate rate_over(const ClockPoint& first, const ClockPoint& last, double nominal) noexcept;
  Rate newest_rate(double nominal) const noexcept;
  Rate oldest_rate(double nominal) const noexcept;

  std::vector<ClockPoint> points_;  // oldest first
};

}  // namespace nvspan::cuda
