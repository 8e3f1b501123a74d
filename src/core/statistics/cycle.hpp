// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a period looks like: slow steps at some places, or a sawtooth.

#pragma once

#include "core/statistics/series.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace nvspan::core {

enum class CyclePlace : std::uint8_t { high, between, low };

struct Cycle {
  std::vector<CyclePlace> places;  // of each place in the period
  double spread;                   // of the profile, in logarithms
  bool is_sawtooth;
  bool rises;  // a sawtooth: slowly up and down at once
};

// `profile`: the median of each place in the period of `logarithms`. None: it has no clear shape.
std::optional<Cycle> judge_cycle(const Series& profile, const Series& logarithms);

}  // namespace nvspan::core
