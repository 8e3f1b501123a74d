// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Each round takes the moments of the collectives, cuts the lines of each clock by them, and takes
// the moments anew from the lines of all clocks: O(clocks * collectives) a round. Rounds are few:
// a bound passes on from clock to clock, and where all take part in one collective it has passed on
// to all of them in the first round. Offsets without drift come out exact, as shortest paths;
// with drift each clock's set holds every line that fits the others' intervals.

#include "ranks/clocks/clock_solver.hpp"

#include "ranks/clocks/fit.hpp"

#include <algorithm>
#include <cmath>

namespace nvspan::ranks {
namespace {

// A round that moves no bound by more than 1 ns and this part of its interval is the last.
constexpr double settled = 0.01;

class Solver {
 public:
  Solver(const std::vector<std::vector<Sighting>>& sightings, std::size_t collectives,
         const std::vector<Prior>& priors, const ClockOptions& options)
      : sightings_(sightings), priors_(priors), options_(options), out_(collectives, 0) {}

  Clocks solve() {
    // A second time without the collectives that contradict most of the clocks.
    run();
    if (leave_out()) run();
    for (std::uint32_t k = 0; k < out_.size(); ++k) {
      if (out_[k] != 0) found_.left_out.push_back(k);
    }
    return std::move(found_);
  }

 private:
  void run() {
    const std::size_t count = sightings_.size();
    found_ = Clocks();
    moments_.assign(out_.size(), Interval{-infinite, infinite});
    dropped_.assign(count, {});
    found_.clocks.resize(count);
    for (std::size_t c = 0; c < count; ++c) {
      found_.clocks[c].base = base_of(sightings_[c]);
      dropped_[c].assign(sightings_[c].size(), 0);
    }
    found_.base = found_.clocks[options_.reference].base;
    Clock& reference = found_.clocks[options_.reference];
    reference.pieces.push_back(ClockPiece{reference.base, reference.base, LineSet({0, 0}, 0), 0});
    bool moved = narrow(options_.reference);
    while (moved && found_.rounds < options_.rounds) {
      ++found_.rounds;
      moved = false;
      for (std::uint32_t c = 0; c < count; ++c) {
        if (c != options_.reference) fit(c);
      }
      for (std::uint32_t c = 0; c < count; ++c) moved = narrow(c) || moved;
    }
  }

  static std::int64_t base_of(const std::vector<Sighting>& sightings) {
    for (const Sighting& seen : sightings) {
      if (seen.begin != no_begin) return seen.begin;
      if (seen.end != no_end) return seen.end;
    }
    return 0;
  }

  void fit(std::uint32_t c) {
    const std::vector<Sighting>& seen = sightings_[c];
    Clock& clock = found_.clocks[c];
    std::vector<Gate> gates;
    gates.reserve(seen.size());
    for (std::size_t i = 0; i < seen.size(); ++i) {
      const Interval& moment = moments_[seen[i].collective];
      Gate gate;
      gate.sighting = i;
      if (seen[i].end != no_end && moment.low != -infinite) {
        gate.at_low = static_cast<double>(seen[i].end - clock.base);
        gate.low = moment.low - gate.at_low;
      }
      if (seen[i].begin != no_begin && moment.high != infinite) {
        gate.at_high = static_cast<double>(seen[i].begin - clock.base);
        gate.high = moment.high - gate.at_high;
      }
      if (out_[seen[i].collective] != 0 || dropped_[c][i] != 0) continue;
      if (gate.low != -infinite || gate.high != infinite) gates.push_back(gate);
    }
    PriorBounds prior;
    if (!priors_.empty()) prior = PriorBounds(priors_[c], clock.base, found_.base, options_);
    Fit fit(gates, prior, options_, clock.base);
    clock.pieces = fit.pieces();
    for (const std::size_t sighting : fit.contradictions()) {
      dropped_[c][sighting] = 1;
      found_.contradictions.push_back(Contradiction{c, seen[sighting].collective});
    }
  }

  // Whether a moment is known more closely, by this clock, than before.
  bool narrow(std::uint32_t c) {
    const std::vector<Sighting>& seen = sightings_[c];
    bool moved = false;
    for (std::size_t i = 0; i < seen.size(); ++i) {
      if (out_[seen[i].collective] != 0 || dropped_[c][i] != 0) continue;
      Interval& moment = moments_[seen[i].collective];
      const double width = moment.high - moment.low;
      const double much = width < infinite ? 1 + settled * width : 1;
      double low = 0;
      double high = 0;
      if (seen[i].end != no_end && bounds(c, seen[i].end, low, high) && high < moment.high) {
        moved = moved || high < moment.high - much;
        moment.high = high;
      }
      if (seen[i].begin != no_begin && bounds(c, seen[i].begin, low, high) && low > moment.low) {
        moved = moved || low > moment.low + much;
        moment.low = low;
      }
    }
    return moved;
  }

  bool bounds(std::uint32_t c, std::int64_t local, double& low, double& high) const {
    const Clock& clock = found_.clocks[c];
    const ClockPiece* const piece = clock.piece(local);
    if (piece == nullptr || piece->lines.empty()) return false;
    const Interval offset = piece->lines.at(static_cast<double>(local - piece->middle));
    const auto since = static_cast<double>(local - clock.base);
    low = since + offset.low - piece->wander;
    high = since + offset.high + piece->wander;
    return true;
  }

  bool leave_out() {
    std::vector<std::uint32_t> against(out_.size(), 0);
    std::vector<std::uint32_t> saw(out_.size(), 0);
    for (const auto& of_clock : sightings_) {
      for (const Sighting& seen : of_clock) ++saw[seen.collective];
    }
    for (const Contradiction& each : found_.contradictions) ++against[each.collective];
    bool any = false;
    for (std::size_t k = 0; k < out_.size(); ++k) {
      if (against[k] == 0 || 2 * (against[k] + 1) <= saw[k]) continue;
      out_[k] = 1;
      any = true;
    }
    return any;
  }

  const std::vector<std::vector<Sighting>>& sightings_;
  const std::vector<Prior>& priors_;
  const ClockOptions& options_;
  std::vector<std::uint8_t> out_;  // by collective
  std::vector<Interval> moments_;  // since the reference's base
  std::vector<std::vector<std::uint8_t>> dropped_;
  Clocks found_;
};

}  // namespace

const ClockPiece* Clock::piece(std::int64_t local) const noexcept {
  if (pieces.empty()) return nullptr;
  const auto after =
      std::upper_bound(pieces.begin(), pieces.end(), local,
                       [](std::int64_t at, const ClockPiece& piece) { return at < piece.from; });
  return after == pieces.begin() ? &pieces.front() : &*(after - 1);
}

Moment Clocks::moment(std::uint32_t clock, std::int64_t local) const {
  const Clock& of = clocks[clock];
  const ClockPiece* const piece = of.piece(local);
  if (piece == nullptr || piece->lines.empty()) return Moment{};
  const Interval offset = piece->lines.at(static_cast<double>(local - piece->middle));
  const std::int64_t at = base + (local - of.base);
  return Moment{at + static_cast<std::int64_t>(std::floor(offset.low - piece->wander + 0.5)),
                at + static_cast<std::int64_t>(std::ceil(offset.high + piece->wander - 0.5))};
}

Clocks solve_clocks(const std::vector<std::vector<Sighting>>& sightings, std::size_t collectives,
                    const std::vector<Prior>& priors, const ClockOptions& options) {
  return Solver(sightings, collectives, priors, options).solve();
}

}  // namespace nvspan::ranks
