// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The pieces of one clock: the lines that pass through its gates.

#pragma once

#include "ranks/clocks/clock_solver.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace nvspan::ranks {

// What is known beforehand of a clock's offset, at any moment of it. Offsets and moments are in ns
// since the clock's base and the reference's, as those of a Fit. A drift that is measured at two
// moments or more is taken for steady, but for the wander that the options allow since the nearest
// of them; one that is not measured may be as large as they believe.
class PriorBounds {
 public:
  PriorBounds() = default;  // nothing is known
  PriorBounds(const Prior& prior, std::int64_t base, std::int64_t reference_base,
              const ClockOptions& options);

  Interval at(double moment) const noexcept;

 private:
  Interval always_{-infinite, infinite};
  std::vector<double> measured_;  // moments
  LineSet lines_;                 // by the time since the first of them
  double wander_ = 0;
};

// The clock's offset was at least `low` at one moment and at most `high` at another, in ns since
// the clock's base.
struct Gate {
  std::size_t sighting = 0;
  double at_low = 0;
  double low = -std::numeric_limits<double>::infinity();
  double at_high = 0;
  double high = std::numeric_limits<double>::infinity();
};

class Fit {
 public:
  Fit(const std::vector<Gate>& gates, const PriorBounds& prior, const ClockOptions& options,
      std::int64_t base);

  const std::vector<ClockPiece>& pieces() const noexcept { return pieces_; }
  // Sightings whose gates no line passes that passes most others.
  const std::vector<std::size_t>& contradictions() const noexcept { return contradictions_; }

 private:
  using Gates = const std::vector<Gate>;

  void fit(std::size_t from, std::size_t to, double begins);
  bool fit_all(std::size_t from, std::size_t to, double middle, double slack, LineSet& lines) const;
  // Leaves gates out one by one, those furthest from the line that most agree on. Their numbers.
  std::vector<std::size_t> fit_most(std::size_t from, std::size_t to, double middle, double slack,
                                    LineSet& lines) const;
  Line typical_line(std::size_t from, std::size_t to, double middle) const;
  bool box(std::size_t from, std::size_t to, double middle, double slack, Interval& offset) const;

  Gates& gates_;
  const PriorBounds& prior_;
  const ClockOptions& options_;
  std::int64_t base_;
  std::vector<ClockPiece> pieces_;
  std::vector<std::size_t> contradictions_;
};

}  // namespace nvspan::ranks
