// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/clocks/fit.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nvspan::ranks {
namespace {

constexpr double rounding = 0.01;       // ns
constexpr std::size_t fewest = 8;       // gates of a window that is split where a clock was set
constexpr std::size_t most_tried = 48;  // gates that the typical line is searched among

double place(const Gate& gate) {
  if (gate.low == -infinite) return gate.at_high;
  if (gate.high == infinite) return gate.at_low;
  return (gate.at_low + gate.at_high) / 2;
}

// The first moment of the clock that the gate is about.
double start(const Gate& gate) {
  if (gate.low == -infinite) return gate.at_high;
  return gate.high == infinite ? gate.at_low : std::min(gate.at_low, gate.at_high);
}

bool closed(const Gate& gate) { return gate.low != -infinite && gate.high != infinite; }

// How far a line is outside of a gate.
double outside(const Gate& gate, const Line& line, double middle) {
  const double below = gate.low - line.at(gate.at_low - middle);
  const double above = line.at(gate.at_high - middle) - gate.high;
  return std::max(0.0, std::max(below, above));
}

bool cut(LineSet& lines, const Gate& gate, double middle, double slack) {
  return (gate.low == -infinite || lines.keep_above(gate.at_low - middle, gate.low - slack)) &&
         (gate.high == infinite || lines.keep_below(gate.at_high - middle, gate.high + slack));
}

}  // namespace

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

Fit::Fit(const std::vector<Gate>& gates, const PriorBounds& prior, const ClockOptions& options,
         std::int64_t base)
    : gates_(gates), prior_(prior), options_(options), base_(base) {
  if (gates_.empty()) return;
  std::size_t from = 0;
  double begins = place(gates_.front());
  for (std::size_t i = 1; i <= gates_.size(); ++i) {
    if (i < gates_.size() && place(gates_[i]) - begins < options_.window) continue;
    fit(from, i, begins);
    from = i;
    if (i < gates_.size()) begins = place(gates_[i]);
  }
}

void Fit::fit(std::size_t from, std::size_t to, double begins) {
  const double ends = place(gates_[to - 1]);
  const double middle = std::floor((begins + ends) / 2);
  ClockPiece piece;
  piece.from = base_ + static_cast<std::int64_t>(start(gates_[from]));
  piece.middle = base_ + static_cast<std::int64_t>(middle);
  piece.wander = options_.wander * (ends - begins) / 2 + rounding;
  if (!fit_all(from, to, middle, piece.wander, piece.lines)) {
    const std::vector<std::size_t> left = fit_most(from, to, middle, piece.wander, piece.lines);
    if (left.size() * 5 > to - from && to - from >= 2 * fewest) {  // the clock was set in between
      const std::size_t half = from + (to - from) / 2;
      fit(from, half, begins);
      return fit(half, to, place(gates_[half]));
    }
    if (left.size() * 2 > to - from) piece.lines = LineSet();
    for (const std::size_t gate : left) contradictions_.push_back(gates_[gate].sighting);
  }
  pieces_.push_back(std::move(piece));
}

// The offsets that lines within the steepest drift may have in the middle, as far as one gate at a
// time says. False: a gate contradicts another.
bool Fit::box(std::size_t from, std::size_t to, double middle, double slack,
              Interval& offset) const {
  const Interval prior = prior_.at(middle);
  offset = Interval{prior.low - slack, prior.high + slack};
  for (std::size_t i = from; i < to; ++i) {
    const Gate& gate = gates_[i];
    const double lean_low = options_.steepest * std::fabs(gate.at_low - middle);
    const double lean_high = options_.steepest * std::fabs(gate.at_high - middle);
    offset.low = std::max(offset.low, gate.low - lean_low - slack);
    offset.high = std::min(offset.high, gate.high + lean_high + slack);
  }
  return offset.low <= offset.high;
}

bool Fit::fit_all(std::size_t from, std::size_t to, double middle, double slack,
                  LineSet& lines) const {
  Interval offset;
  if (!box(from, to, middle, slack, offset)) return false;
  lines = LineSet();
  if (offset.low == -infinite || offset.high == infinite) return true;  // nothing holds it yet
  lines = LineSet(offset, options_.steepest);
  for (std::size_t i = from; i < to; ++i) {
    if (!cut(lines, gates_[i], middle, slack)) return false;
  }
  return true;
}

Line Fit::typical_line(std::size_t from, std::size_t to, double middle) const {
  // Narrow gates say most.
  std::vector<std::size_t> narrow;
  for (std::size_t i = from; i < to; ++i) {
    if (closed(gates_[i])) narrow.push_back(i);
  }
  const auto width = [&](std::size_t i) { return gates_[i].high - gates_[i].low; };
  std::sort(narrow.begin(), narrow.end(),
            [&](std::size_t a, std::size_t b) { return width(a) < width(b); });
  narrow.resize(std::min(narrow.size(), std::max<std::size_t>(most_tried, narrow.size() / 2)));
  if (narrow.size() > most_tried) {
    std::vector<std::size_t> some;
    for (std::size_t i = 0; i < most_tried; ++i)
      some.push_back(narrow[i * narrow.size() / most_tried]);
    narrow.swap(some);
  }
  Line best;
  double least = infinite;
  const auto centre = [&](std::size_t i) { return (gates_[i].low + gates_[i].high) / 2; };
  for (std::size_t a = 0; a < narrow.size(); ++a) {
    for (std::size_t b = a; b < narrow.size(); ++b) {
      const double apart = place(gates_[narrow[b]]) - place(gates_[narrow[a]]);
      double drift = apart == 0 ? 0 : (centre(narrow[b]) - centre(narrow[a])) / apart;
      drift = std::max(-options_.steepest, std::min(options_.steepest, drift));
      const Line line{centre(narrow[a]) - drift * (place(gates_[narrow[a]]) - middle), drift};
      // Roots, so that gates that are far off do not weigh more than others.
      double sum = 0;
      for (const std::size_t i : narrow) sum += std::sqrt(outside(gates_[i], line, middle));
      if (sum < least) {
        least = sum;
        best = line;
      }
    }
  }
  return best;
}

std::vector<std::size_t> Fit::fit_most(std::size_t from, std::size_t to, double middle,
                                       double slack, LineSet& lines) const {
  const Line typical = typical_line(from, to, middle);
  std::vector<std::pair<double, std::size_t>> order;
  for (std::size_t i = from; i < to; ++i)
    order.emplace_back(outside(gates_[i], typical, middle), i);
  std::sort(order.begin(), order.end());
  // Wide enough for every gate that is met before the first that is left out.
  const double reach = options_.steepest * options_.window * 2 + 1e9;
  const Interval prior = prior_.at(middle);
  lines = LineSet(Interval{std::max(prior.low - slack, typical.offset - reach),
                           std::min(prior.high + slack, typical.offset + reach)},
                  options_.steepest);
  std::vector<std::size_t> left;
  for (const auto& each : order) {
    const LineSet before = lines;
    if (cut(lines, gates_[each.second], middle, slack)) continue;
    lines = before;
    left.push_back(each.second);
  }
  return left;
}

}  // namespace nvspan::ranks
