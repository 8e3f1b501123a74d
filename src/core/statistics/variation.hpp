// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Why the durations of steps differ. False alarms and detections:
// tests/answers/test_variation_rates.py.

#pragma once

#include "core/statistics/series.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::core {

enum class EffectKind { warm_up, jump, levels, trend, period, sawtooth, modes, rare };

struct Stretch {
  std::size_t first, last;  // steps
  double time;              // the median of them
};

using Places = std::vector<std::int64_t>;

struct Effect {
  EffectKind kind;
  Places high = {}, low = {};          // slow steps, and those that they are compared with
  double size = 0;                     // by how much a slow step is longer
  double high_time = 0, low_time = 0;  // medians
  bool rises = false;                  // of a jump, a trend and a sawtooth
  std::size_t at = 0;                  // of a jump: the first step after it
  std::size_t period = 0;              // exact, in steps
  std::size_t slow_in_period = 0;
  std::size_t every = 0;                // about so many steps are between slow ones; 0: irregular
  double extra = 0;                     // of rare ones: what they add up to beyond the expected
  std::vector<Stretch> stretches = {};  // of levels
};

// The effects that noise does not explain: warm-up, period or sawtooth, slow change, modes, rare
// slow steps; at most one of each. `tests`: how many series are tested together.
std::vector<Effect> find_variation(const Series& times, std::size_t tests);

}  // namespace nvspan::core
