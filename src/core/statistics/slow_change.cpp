// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/statistics/slow_change.hpp"

#include "core/statistics/rank_trend.hpp"
#include "core/statistics/thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace nvspan::core {
namespace {

constexpr std::size_t most_values = 4096;  // longer series are averaged
constexpr double bic_margin = 10;          // "very strong" evidence (Kass and Raftery 1995)
constexpr double least_deviation = 1e-3;

struct Model {
  double bic = std::numeric_limits<double>::infinity();
  SlowChange change = {ChangeKind::trend, {}, {}};
};

Series residuals_of(const Series& values, const Series& fitted) {
  Series result = values;
  for (std::size_t i = 0; i < values.size(); ++i) result[i] -= fitted[i];
  return result;
}

// The Bayesian information criterion of a mean whose residuals are AR(1) noise. Wandering costs no
// parameters, so a change must explain more than wandering does.
double ar1_bic(const Series& residuals, std::size_t parameters) {
  const auto count = static_cast<double>(residuals.size());
  const double phi = autocorrelation(residuals);
  double sum = residuals[0] * residuals[0] * std::max(1e-3, 1 - phi * phi);
  for (std::size_t i = 1; i < residuals.size(); ++i) {
    const double innovation = residuals[i] - phi * residuals[i - 1];
    sum += innovation * innovation;
  }
  return count * std::log(sum / count + least_deviation * least_deviation) +
         static_cast<double>(parameters + 1) * std::log(count);
}

Model judged(const Series& values, SlowChange change, std::size_t parameters) {
  const double bic = ar1_bic(residuals_of(values, change.fitted), parameters);
  return {bic, std::move(change)};
}

double spread_of(const Series& values) {
  const auto [low, high] = std::minmax_element(values.begin(), values.end());
  return *high - *low;
}

// Whether it goes both up and down by a third of its spread; else it is a trend.
bool turns(const Series& fitted) {
  const double least = spread_of(fitted) / 3;
  double low = fitted[0], high = fitted[0], rise = 0, fall = 0;
  for (const double value : fitted) {
    low = std::min(low, value);
    high = std::max(high, value);
    rise = std::max(rise, value - low);
    fall = std::max(fall, high - value);
  }
  return rise >= least && fall >= least;
}

// Adds the share of `shape`, which has no part in what was added before, to a least squares fit.
void add_shape(const Series& values, const Series& shape, Series& fitted) {
  double product = 0, power = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    product += shape[i] * values[i];
    power += shape[i] * shape[i];
  }
  for (std::size_t i = 0; i < values.size(); ++i) fitted[i] += shape[i] * product / power;
}

// A line, or a parabola that does not turn: a trend that levels off.
Model best_trend(const Series& values) {
  const std::size_t count = values.size();
  Series fitted(count, mean(values)), time(count), square(count);
  for (std::size_t i = 0; i < count; ++i) {
    time[i] = static_cast<double>(i) - static_cast<double>(count - 1) / 2;
    square[i] = time[i] * time[i];
  }
  add_shape(values, time, fitted);
  Model best = judged(values, {ChangeKind::trend, fitted, {}}, 2);
  const double middle = mean(square);
  for (double& value : square) value -= middle;
  add_shape(values, square, fitted);
  if (!turns(fitted)) {
    Model curve = judged(values, {ChangeKind::trend, std::move(fitted), {}}, 3);
    if (curve.bic < best.bic) best = std::move(curve);
  }
  return best;
}

Series means_between(const Series& values, const std::vector<std::size_t>& cuts) {
  Series fitted(values.size());
  std::size_t begin = 0;
  for (std::size_t i = 0; i <= cuts.size(); ++i) {
    const std::size_t end = i < cuts.size() ? cuts[i] : values.size();
    double sum = 0;
    for (std::size_t k = begin; k < end; ++k) sum += values[k];
    std::fill(fitted.begin() + static_cast<std::ptrdiff_t>(begin),
              fitted.begin() + static_cast<std::ptrdiff_t>(end),
              sum / static_cast<double>(end - begin));
    begin = end;
  }
  return fitted;
}

// One jump, then two to six changes of level, each found by splitting what the last ones left.
std::vector<Model> step_models(const Series& values) {
  constexpr std::size_t most_cuts = 6;
  const std::size_t count = values.size(),
                    least = count < 30 ? 3 : std::max<std::size_t>(4, count / 20);
  std::vector<Model> models;
  std::vector<std::size_t> edges = {0, count};
  while (models.size() < most_cuts) {
    BestSplit best;
    for (std::size_t i = 0; i + 1 < edges.size(); ++i) {
      const BestSplit split = best_split(values, edges[i], edges[i + 1], least);
      if (split.gain > best.gain) best = split;
    }
    if (best.gain <= 0) break;
    edges.insert(std::upper_bound(edges.begin(), edges.end(), best.at), best.at);
    const std::vector<std::size_t> cuts(edges.begin() + 1, edges.end() - 1);
    const ChangeKind kind = cuts.size() == 1 ? ChangeKind::jump : ChangeKind::levels;
    models.push_back(
        judged(values, {kind, means_between(values, cuts), cuts}, 1 + 3 * cuts.size()));
  }
  return models;
}

// Levels without edges: two to six low frequencies.
std::vector<Model> wave_models(const Series& values) {
  const std::size_t count = values.size(), most_waves = std::min<std::size_t>(6, count / 4);
  const double half_turn = std::acos(-1.0);
  std::vector<Model> models;
  Series fitted(count, mean(values)), wave(count);
  for (std::size_t waves = 1; waves <= most_waves; ++waves) {
    for (std::size_t i = 0; i < count; ++i) {
      wave[i] = std::cos(half_turn * static_cast<double>(waves) * (static_cast<double>(i) + 0.5) /
                         static_cast<double>(count));
    }
    add_shape(values, wave, fitted);
    if (waves < 2) continue;
    const auto [low, high] = std::minmax_element(fitted.begin(), fitted.end());
    const double half = (*low + *high) / 2;
    std::vector<std::size_t> cuts;
    for (std::size_t i = 1; i < count; ++i) {
      if ((fitted[i] > half) != (fitted[i - 1] > half)) cuts.push_back(i);
    }
    models.push_back(judged(values, {ChangeKind::levels, fitted, std::move(cuts)}, 1 + 2 * waves));
  }
  return models;
}

// The best trend or jump, or levels that go up and down and are worth their parameters.
Model best_model(const Series& values) {
  Model best = best_trend(values);
  std::vector<Model> others = step_models(values);
  if (!others.empty() && others[0].bic < best.bic) best = others[0];
  for (Model& model : wave_models(values)) others.push_back(std::move(model));
  for (Model& model : others) {
    const double margin = best.change.kind == ChangeKind::levels ? 0 : bic_margin;
    if (model.change.kind == ChangeKind::levels && !model.change.cuts.empty() &&
        turns(model.change.fitted) && best.bic - model.bic >= margin) {
      best = std::move(model);
    }
  }
  return best;
}

bool stands_out(const Series& values, const SlowChange& change) {
  const auto count = static_cast<double>(values.size());
  const Series residuals = residuals_of(values, change.fitted);
  const double phi = autocorrelation(residuals), spread = spread_of(change.fitted);
  const double independent = std::max(3.0, count * (1 - phi) / (1 + phi));
  const double noise = std::max(std::sqrt(variance(residuals)), least_deviation);
  const double parts =
      change.kind == ChangeKind::levels ? static_cast<double>(change.cuts.size() + 1) / 2 : 1;
  return spread >= std::log1p(least_effect) &&
         spread >= (4 + 16 / count) * noise * std::sqrt(4 * parts / independent);
}

}  // namespace

BestSplit best_split(const Series& values, std::size_t begin, std::size_t end, std::size_t least) {
  const std::size_t count = end - begin;
  if (count < 2 * least) return {};
  double total = 0;
  for (std::size_t i = begin; i < end; ++i) total += values[i];
  const double center = total / static_cast<double>(count);
  BestSplit best;
  double sum = 0;
  for (std::size_t k = 1; k + least <= count; ++k) {
    sum += values[begin + k - 1] - center;
    const double gain = sum * sum * static_cast<double>(count) /
                        (static_cast<double>(k) * static_cast<double>(count - k));
    if (k >= least && gain > best.gain) best = {gain, begin + k};
  }
  return best;
}

std::optional<SlowChange> find_slow_change(const Series& logarithms, std::size_t tests) {
  constexpr std::size_t least_values = 8;
  const std::size_t count = logarithms.size();
  if (count < least_values) return std::nullopt;
  const std::size_t bin = (count + most_values - 1) / most_values;
  const Series values = averages(without_strays(logarithms), bin);
  const auto bins = static_cast<double>(values.size());
  const double margin = bic_margin + 2 * std::log(static_cast<double>(tests)) + 40 / bins;
  Model best = best_model(values);
  const double constant = ar1_bic(residuals_of(values, Series(values.size(), mean(values))), 1);
  if (constant - best.bic < margin || !stands_out(values, best.change)) {
    return find_rank_trend(logarithms, tests);
  }
  SlowChange change = std::move(best.change);
  if (bin == 1) return change;
  Series fitted(count, change.fitted.back());
  for (std::size_t i = 0; i < values.size() * bin; ++i) fitted[i] = change.fitted[i / bin];
  change.fitted = std::move(fitted);
  for (std::size_t& cut : change.cuts) cut *= bin;
  return change;
}

}  // namespace nvspan::core
