// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which steps are typical, and what the typical one is like.

#pragma once

#include "core/memory/large_pages.hpp"
#include "reader/steps/steps.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::reader {

enum class StepState : std::uint8_t { typical, warm_up, outlier };

// A step differs when it is further from the median of its thread's later half than both of these:
// so many of that half's robust deviations, and this share of the median. Those that lead and are
// longer are warm-up, the others outliers. Where these are a third of the thread's steps or more,
// they are typical: outliers before warm-up. The rule for calls (stats/typical.hpp) is wider, as
// calls of one name may differ by nature, and knows no order.
constexpr double most_deviations = 5;
constexpr double least_share = 0.25;
constexpr std::size_t least_steps = 5;  // of a thread: with fewer all are typical

// Means of the typical steps, ns: they add up as the steps do.
struct TypicalStep {
  core::LargeVector<std::int64_t> state;  // of each step: a StepState
  std::uint64_t steps = 0, warm_up = 0, outliers = 0;
  std::uint64_t steps_with_work = 0;  // that are not in a gap: the means of work are of these
  double duration = 0, busy = 0, ops = 0;
  std::vector<double> cpu, gpu, idle;
  // Their standard deviations.
  double duration_std = 0, busy_std = 0, all_idle_std = 0;
  std::vector<double> cpu_std, gpu_std, idle_std;
  std::int64_t shortest = 0, median = 0, p90 = 0, p99 = 0, longest = 0;
  double waits = 0, wait_calls = 0;
  std::int64_t ahead = -1;  // the median of the steps' medians
  std::int64_t behind = Steps::not_known;
};

TypicalStep typical_step(const Steps& steps);

}  // namespace nvspan::reader
