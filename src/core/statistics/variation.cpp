// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/statistics/variation.hpp"

#include "core/statistics/cycle.hpp"
#include "core/statistics/modes.hpp"
#include "core/statistics/order.hpp"
#include "core/statistics/period.hpp"
#include "core/statistics/slow_change.hpp"
#include "core/statistics/thresholds.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

namespace nvspan::core {
namespace {

constexpr std::size_t fewest_steps = 5;

// How many robust deviations of `count` steps a slow one is off; the deviation of few is unsure.
double slow_deviations(double count) { return 5 + 15 / std::sqrt(count); }

// How many steps at the beginning are longer than those that follow.
std::size_t count_warm_up(const Series& logarithms) {
  constexpr double least_sigma = 0.005, most_later = 0.05;
  const std::size_t count = logarithms.size();
  if (count < fewest_steps) return 0;
  const auto after = static_cast<std::ptrdiff_t>(std::max<std::size_t>(count / 4, 3));
  Series rest(logarithms.begin() + after, logarithms.end());
  const double sigma = std::max(robust_sigma(rest), least_sigma);
  const double excess = std::max(slow_deviations(static_cast<double>(rest.size())) * sigma,
                                 std::log1p(least_slow_excess));
  const double limit = std::max(midpoint_of(rest) + excess, percentile(rest, 0.98) + sigma);
  const std::size_t most = std::max<std::size_t>(count >= 10 ? 3 : 2, count / 5);
  std::size_t steps = 0;
  while (steps < most && logarithms[steps] > limit) ++steps;
  const auto later =
      std::count_if(logarithms.begin() + static_cast<std::ptrdiff_t>(steps), logarithms.end(),
                    [limit](double value) { return value > limit; });
  return static_cast<double>(later) < most_later * static_cast<double>(count - steps) ? steps : 0;
}

// The distance of slow steps that come about regularly; 0: they do not, or follow one another.
std::size_t usual_distance(const std::vector<std::size_t>& places) {
  constexpr std::size_t fewest_places = 6;
  constexpr double most_deviation = 0.25;
  if (places.size() < fewest_places) return 0;
  Series distances;
  for (std::size_t i = 1; i < places.size(); ++i) {
    distances.push_back(static_cast<double>(places[i] - places[i - 1]));
  }
  const double usual = mean(distances);
  if (usual < 1.5 || std::sqrt(variance(distances)) > most_deviation * usual) return 0;
  return static_cast<std::size_t>(std::lround(usual));
}

// The steps after warm-up, and what of them was explained.
class Analysis {
 public:
  Analysis(const Series& times, std::size_t lead)
      : lead_(lead), times_(times.begin() + static_cast<std::ptrdiff_t>(lead), times.end()) {
    logarithms_.reserve(times_.size());
    for (const double time : times_) logarithms_.push_back(std::log(time));
  }

  std::vector<Effect> run(std::size_t tests);

 private:
  std::optional<Effect> cycle_effect(const Series& values);
  Effect change_effect(const SlowChange& change) const;
  Effect mode_effect(double limit);
  std::optional<Effect> rare_effect() const;
  // Slow and other steps, and their medians.
  template <typename IsSlow>
  Effect split(EffectKind kind, const IsSlow& is_slow) const;
  void set_distance(Effect& effect, EffectKind irregular) const;
  bool is_levels_alone(const SlowChange& change, double limit, const Series& residuals) const;

  std::size_t lead_;
  Series times_, logarithms_;
  Series fitted_;         // logarithms of the expected times
  Series cycle_profile_;  // of the cycle that was found
};

template <typename IsSlow>
Effect Analysis::split(EffectKind kind, const IsSlow& is_slow) const {
  Effect effect = {kind};
  Series high, low;
  for (std::size_t i = 0; i < times_.size(); ++i) {
    const bool slow = is_slow(i);
    (slow ? effect.high : effect.low).push_back(static_cast<std::int64_t>(lead_ + i));
    (slow ? high : low).push_back(times_[i]);
  }
  if (!high.empty()) effect.high_time = median(high);
  if (!low.empty()) effect.low_time = median(low);
  effect.size = effect.high_time - effect.low_time;
  return effect;
}

std::optional<Effect> Analysis::cycle_effect(const Series& values) {
  std::optional<Period> period = find_period(values);
  if (!period) return std::nullopt;
  const std::optional<Cycle> cycle = judge_cycle(period->profile, values);
  if (!cycle) return std::nullopt;
  const std::size_t length = period->profile.size();
  Effect effect =
      split(cycle->is_sawtooth ? EffectKind::sawtooth : EffectKind::period,
            [&](std::size_t i) { return cycle->places[i % length] == CyclePlace::high; });
  if (cycle->is_sawtooth) {  // its middle is neither slow nor fast
    const Effect fast = split(EffectKind::sawtooth, [&](std::size_t i) {
      return cycle->places[i % length] == CyclePlace::low;
    });
    effect.low = fast.high;
    effect.low_time = fast.high_time;
    Series all = times_;
    effect.size = median(all) * std::expm1(cycle->spread);
  }
  effect.rises = cycle->rises;
  effect.period = length;
  effect.slow_in_period = static_cast<std::size_t>(
      std::count(cycle->places.begin(), cycle->places.end(), CyclePlace::high));
  cycle_profile_ = std::move(period->profile);
  return effect;
}

Effect Analysis::change_effect(const SlowChange& change) const {
  const std::size_t count = times_.size();
  if (change.kind == ChangeKind::levels) {
    const auto [low, high] = std::minmax_element(change.fitted.begin(), change.fitted.end());
    const double half = (*low + *high) / 2;
    Effect effect =
        split(EffectKind::levels, [&](std::size_t i) { return change.fitted[i] > half; });
    std::size_t begin = 0;
    for (std::size_t i = 0; i <= change.cuts.size(); ++i) {
      const std::size_t end = i < change.cuts.size() ? change.cuts[i] : count;
      Series stretch(times_.begin() + static_cast<std::ptrdiff_t>(begin),
                     times_.begin() + static_cast<std::ptrdiff_t>(end));
      effect.stretches.push_back({lead_ + begin, lead_ + end - 1, median(stretch)});
      begin = end;
    }
    return effect;
  }
  const bool is_jump = change.kind == ChangeKind::jump;
  const std::size_t quarter = std::max<std::size_t>(2, count / 4);
  const std::size_t early = is_jump ? change.cuts[0] : quarter;
  const std::size_t late = is_jump ? change.cuts[0] : count - quarter;
  const EffectKind kind = is_jump ? EffectKind::jump : EffectKind::trend;
  Effect effect = split(kind, [&](std::size_t i) { return i >= late; });
  if (!is_jump) {
    Effect first = split(kind, [&](std::size_t i) { return i < early; });
    effect.low = std::move(first.high);
    effect.low_time = first.high_time;
  }
  effect.rises = effect.high_time > effect.low_time;
  if (!effect.rises) {
    std::swap(effect.high, effect.low);
    std::swap(effect.high_time, effect.low_time);
  }
  effect.size = effect.high_time - effect.low_time;
  if (is_jump) effect.at = lead_ + change.cuts[0];
  return effect;
}

// Slow steps whose distance is always the same are a period.
void Analysis::set_distance(Effect& effect, EffectKind irregular) const {
  std::vector<std::size_t> places;
  for (const std::int64_t place : effect.high) {
    places.push_back(static_cast<std::size_t>(place) - lead_);
  }
  effect.period = exact_distance(places, times_.size());
  effect.slow_in_period = effect.period > 0 ? 1 : 0;
  effect.kind = effect.period > 0 ? EffectKind::period : irregular;
  effect.every = effect.period > 0 ? effect.period : usual_distance(places);
}

Effect Analysis::mode_effect(double limit) {
  Effect effect = split(EffectKind::modes, [&](std::size_t i) { return logarithms_[i] > limit; });
  set_distance(effect, EffectKind::modes);
  Series high, low;
  for (const double value : logarithms_) (value > limit ? high : low).push_back(value);
  const double slow = midpoint_of(std::move(high)), fast = midpoint_of(std::move(low));
  for (std::size_t i = 0; i < fitted_.size(); ++i)
    fitted_[i] = logarithms_[i] > limit ? slow : fast;
  return effect;
}

std::optional<Effect> Analysis::rare_effect() const {
  constexpr double least_sigma = 0.002, most_share = 0.15, least_of_largest = 0.02;
  Series rest = logarithms_;
  for (std::size_t i = 0; i < rest.size(); ++i) rest[i] -= fitted_[i];
  const auto count = static_cast<double>(rest.size());
  const double limit = std::max(slow_deviations(count) * std::max(robust_sigma(rest), least_sigma),
                                std::log1p(least_slow_excess));
  const auto excess = [&](std::size_t i) { return times_[i] - std::exp(fitted_[i]); };
  double largest = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) largest = std::max(largest, excess(i));
  // What is longer by seconds has nothing in common with what is longer by a millisecond.
  const auto is_slow = [&](std::size_t i) {
    return rest[i] > limit && excess(i) >= least_of_largest * largest;
  };
  double extra = 0, total = 0;
  std::size_t slow = 0;
  for (std::size_t i = 0; i < rest.size(); ++i) {
    total += times_[i];
    if (!is_slow(i)) continue;
    ++slow;
    extra += excess(i);
  }
  if (slow == 0 || static_cast<double>(slow) > std::max(1.0, most_share * count) ||
      extra < least_outlier_cost * total) {
    return std::nullopt;
  }
  Effect effect = split(EffectKind::rare, is_slow);
  effect.size = extra / static_cast<double>(slow);
  effect.extra = extra;
  set_distance(effect, EffectKind::rare);
  return effect;
}

// Whether two modes are two stretches of a series instead.
bool Analysis::is_levels_alone(const SlowChange& change, double limit,
                               const Series& residuals) const {
  if (change.kind == ChangeKind::trend || find_mode_limit(residuals)) return false;
  std::size_t switches = 0;
  for (std::size_t i = 1; i < logarithms_.size(); ++i) {
    switches += (logarithms_[i] > limit) != (logarithms_[i - 1] > limit) ? 1 : 0;
  }
  return switches <= 2 * change.cuts.size() + 2;
}

std::vector<Effect> Analysis::run(std::size_t tests) {
  constexpr double least_range = 1e-6;
  std::vector<Effect> effects;
  if (times_.size() < fewest_steps) return effects;
  const auto [low, high] = std::minmax_element(logarithms_.begin(), logarithms_.end());
  if (*high - *low < least_range) return effects;

  std::optional<SlowChange> change = find_slow_change(logarithms_, tests);
  Series residuals = logarithms_;
  for (std::size_t i = 0; change && i < residuals.size(); ++i) residuals[i] -= change->fitted[i];
  std::optional<Effect> cycle = cycle_effect(residuals);
  if (!cycle && change && change->kind != ChangeKind::trend) {
    cycle = cycle_effect(logarithms_);  // a long period looks like levels
    if (cycle) {
      change.reset();
      residuals = logarithms_;
    }
  }
  constexpr double one_mode = std::numeric_limits<double>::infinity();
  const auto modes = cycle ? std::nullopt : find_mode_limit(logarithms_);
  const double limit = modes.value_or(one_mode);
  if (modes && change && !is_levels_alone(*change, limit, residuals)) change.reset();
  const bool has_modes = modes && !change;

  fitted_.assign(logarithms_.size(), midpoint_of(logarithms_));
  if (change) fitted_ = change->fitted;
  if (cycle) {
    const double center = midpoint_of(residuals);
    for (std::size_t i = 0; i < fitted_.size(); ++i) {
      fitted_[i] += cycle_profile_[i % cycle_profile_.size()] - center;
    }
    effects.push_back(std::move(*cycle));
  }
  if (change) effects.push_back(change_effect(*change));
  if (has_modes) effects.push_back(mode_effect(limit));
  if (std::optional<Effect> rare = rare_effect()) effects.push_back(std::move(*rare));
  return effects;
}

Series at_least_one(const Series& times) {
  Series result = times;
  for (double& time : result) time = std::max(time, 1.0);
  return result;
}

Series logarithms_of(Series times) {
  for (double& time : times) time = std::log(time);
  return times;
}

}  // namespace

std::vector<Effect> find_variation(const Series& given, std::size_t tests) {
  const Series times = at_least_one(given);
  const std::size_t lead = count_warm_up(logarithms_of(times));
  std::vector<Effect> effects;
  if (lead > 0) {
    Effect effect = {EffectKind::warm_up};
    Series early, later;
    for (std::size_t i = 0; i < times.size(); ++i) {
      (i < lead ? effect.high : effect.low).push_back(static_cast<std::int64_t>(i));
      (i < lead ? early : later).push_back(times[i]);
    }
    effect.low_time = median(later);
    effect.size = mean(early) - effect.low_time;
    effect.high_time = median(early);
    effects.push_back(std::move(effect));
  }
  for (Effect& effect : Analysis(times, lead).run(tests)) effects.push_back(std::move(effect));
  return effects;
}

}  // namespace nvspan::core
