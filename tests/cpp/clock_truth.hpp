// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Collectives of several clocks whose truth is known: offsets of seconds, drifts of 100 ppm that
// wander, ranks that come at different times and are woken late.

#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include "ranks/clocks/clock_solver.hpp"

namespace nvspan_test {

class ClockTruth {
 public:
  ClockTruth(std::uint64_t seed, std::size_t clocks, std::size_t collectives, double period)
      : random_(seed) {
    std::uniform_real_distribution<double> offset(-5e9, 5e9);
    std::uniform_real_distribution<double> drift(-100e-6, 100e-6);
    std::uniform_real_distribution<double> phase(0, 6.283);
    for (std::size_t c = 0; c < clocks; ++c) {
      offset_.push_back(offset(random_));
      drift_.push_back(c == 0 ? 0 : drift(random_));
      phase_.push_back(c == 0 ? -1 : phase(random_));
    }
    std::exponential_distribution<double> late(1 / 2e6);
    std::exponential_distribution<double> woken(1 / 30e3);
    sightings.resize(clocks);
    begins.assign(collectives, {});
    std::vector<double> free(clocks, 0);
    for (std::size_t k = 0; k < collectives; ++k) {
      std::vector<double> comes(clocks);
      double all = 0;
      for (std::size_t c = 0; c < clocks; ++c) {
        comes[c] = std::max(free[c], static_cast<double>(k) * period) + late(random_);
        all = std::max(all, comes[c]);
      }
      for (std::size_t c = 0; c < clocks; ++c) {
        free[c] = all + 10e3 + woken(random_);
        begins[k].push_back(comes[c]);
        nvspan::ranks::Sighting seen;
        seen.collective = static_cast<std::uint32_t>(k);
        seen.begin = local(c, comes[c]);
        seen.end = local(c, free[c]);
        sightings[c].push_back(seen);
      }
    }
  }

  // What the clock shows, in ns, when the true time is that.
  std::int64_t local(std::size_t c, double at) const {
    // Of 10 ppb within the 10 s of a window.
    const double wander = phase_[c] < 0 ? 0 : 20 * std::sin(phase_[c] + at * 6.283 / 60e9);
    return static_cast<std::int64_t>(
        std::llround(at + 1e15 + offset_[c] + drift_[c] * at + wander));
  }

  std::vector<std::vector<nvspan::ranks::Sighting>> sightings;
  std::vector<std::vector<double>> begins;  // true, by collective

 private:
  std::mt19937_64 random_;
  std::vector<double> offset_, drift_, phase_;
};

// Of all begins, how many true ones lie outside of their intervals, and how wide these are.
struct ClockMisses {
  std::size_t outside = 0;
  std::size_t unknown = 0;
  std::size_t all = 0;
  double widest = 0;
  double sum = 0;
};

inline ClockMisses misses_of(const ClockTruth& truth, const nvspan::ranks::Clocks& found) {
  ClockMisses misses;
  const double zero = static_cast<double>(truth.local(0, 0));
  for (std::size_t c = 1; c < truth.sightings.size(); ++c) {
    for (const auto& seen : truth.sightings[c]) {
      const auto moment = found.moment(static_cast<std::uint32_t>(c), seen.begin);
      ++misses.all;
      if (!moment.known()) {
        ++misses.unknown;
        continue;
      }
      const double at = truth.begins[seen.collective][c] + zero;
      if (at < static_cast<double>(moment.low) - 1 || at > static_cast<double>(moment.high) + 1)
        ++misses.outside;
      const double half = static_cast<double>(moment.uncertainty());
      misses.widest = std::max(misses.widest, half);
      misses.sum += half;
    }
  }
  return misses;
}

}  // namespace nvspan_test
