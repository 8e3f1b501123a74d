// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::record {

// Times of a clock of the caller's as ns: straight lines between points at which both are known,
// and as between the nearest two beyond them. With one point the frequency says how fast it runs.
class ClockMap {
 public:
  struct Point {
    std::int64_t own;
    std::int64_t ns;
  };

  // Points are in the order of their own times, no two alike. `frequency`: ticks per second.
  ClockMap(std::vector<Point> points, double frequency);

  std::int64_t ns(std::int64_t own) const;

 private:
  std::vector<Point> points_;
  double ns_per_tick_;
};

}  // namespace nvspan::record
