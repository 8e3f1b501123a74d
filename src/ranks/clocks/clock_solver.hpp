// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// How far the clocks of several hosts are apart, from collectives. A collective that nobody leaves
// before everybody has come has a moment T: begin + offset <= T <= end + offset on every clock. The
// intervals follow from these inequalities alone: they hold whatever delays there were.

#pragma once

#include "ranks/clocks/line_set.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace nvspan::ranks {

constexpr std::int64_t no_begin = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t no_end = std::numeric_limits<std::int64_t>::max();

// A collective as one clock saw it, in ns of that clock.
struct Sighting {
  std::uint32_t collective = 0;
  std::int64_t begin = no_begin;  // of the last of the clock's ranks; no_begin: nobody needs them
  std::int64_t end = no_end;      // of the first of them; no_end: they need nobody
};

// The offset to the reference at one moment of a clock, in ns.
struct MeasuredOffset {
  std::int64_t at = 0;
  std::int64_t low = 0;
  std::int64_t high = 0;
};

// What is known of a clock beforehand: its offset to the reference at any time, in ns, as by PTP,
// and what was measured of it.
struct Prior {
  std::int64_t low = no_begin;
  std::int64_t high = no_end;
  std::vector<MeasuredOffset> measured;
};

struct ClockOptions {
  std::uint32_t reference = 0;  // the clock that the others are compared with
  double window = 10e9;         // ns within which a clock's drift is constant
  double steepest = 200e-6;     // the largest drift that is believed
  double wander = 10e-9;        // how much the drift may change within a window
  std::size_t rounds = 12;
};

// A stretch of time in which a clock is a line.
struct ClockPiece {
  std::int64_t from = 0;  // local
  std::int64_t middle = 0;
  LineSet lines;  // empty: not known
  double wander = 0;
};

struct Clock {
  std::int64_t base = 0;  // local; the lines count from here
  std::vector<ClockPiece> pieces;

  const ClockPiece* piece(std::int64_t local) const noexcept;
};

// A sighting that contradicts the others: matched wrongly, or a clock was set.
struct Contradiction {
  std::uint32_t clock = 0;
  std::uint32_t collective = 0;
};

// A moment of a clock on the reference's, in ns. `low > high`: not known.
struct Moment {
  std::int64_t low = 1;
  std::int64_t high = 0;

  bool known() const noexcept { return low <= high; }
  std::int64_t middle() const noexcept { return low + (high - low) / 2; }
  std::int64_t uncertainty() const noexcept { return (high - low + 1) / 2; }
};

struct Clocks {
  std::vector<Clock> clocks;
  std::vector<Contradiction> contradictions;
  std::vector<std::uint32_t> left_out;  // collectives that contradict most clocks: in no interval
  std::size_t rounds = 0;
  std::int64_t base = 0;  // of the reference

  Moment moment(std::uint32_t clock, std::int64_t local) const;
};

// `sightings` of each clock are in the order of its time. `priors` is empty, or has one for each.
Clocks solve_clocks(const std::vector<std::vector<Sighting>>& sightings, std::size_t collectives,
                    const std::vector<Prior>& priors, const ClockOptions& options);

}  // namespace nvspan::ranks
