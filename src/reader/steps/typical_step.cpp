// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/steps/typical_step.hpp"

#include "core/statistics/order.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

namespace nvspan::reader {
namespace {

// While the GPU's queue fills, a step is as short as its launches; later it takes what the GPU
// takes. At first, and after a pause, work begins soon after its launch.
class FillingQueue {
 public:
  FillingQueue(const Steps& steps, const std::vector<std::size_t>& of_thread) : steps_(steps) {
    core::LargeVector<std::int64_t> later;
    for (std::size_t i = of_thread.size() / 2; i < of_thread.size(); ++i) {
      if (steps.ahead[of_thread[i]] >= 0) later.push_back(steps.ahead[of_thread[i]]);
    }
    if (!later.empty()) usual_ = core::median(later);
  }
  bool has(std::size_t step) const {
    return steps_.ahead[step] >= 0 && steps_.ahead[step] < usual_ - usual_ / 10;
  }

 private:
  const Steps& steps_;
  std::int64_t usual_ = 0;
};

// The steps of one thread, in their order.
void judge(const Steps& steps, const std::vector<std::size_t>& of_thread,
           core::LargeVector<std::int64_t>& state) {
  if (of_thread.size() < least_steps) return;
  const core::LargeVector<std::int64_t>& durations = steps.duration;
  const FillingQueue filling(steps, of_thread);
  core::LargeVector<std::int64_t> later;
  for (std::size_t i = of_thread.size() / 2; i < of_thread.size(); ++i) {
    later.push_back(durations[of_thread[i]]);
  }
  const std::int64_t median = core::median(later);
  const double limit = std::max(most_deviations * core::robust_deviation(later, median),
                                least_share * static_cast<double>(median));
  std::vector<std::size_t> warm_up, outliers;
  for (const std::size_t step : of_thread) {
    const auto over = static_cast<double>(durations[step] - median);
    const bool is_short = -over > limit && filling.has(step);
    const bool leads = step == of_thread[warm_up.size()];
    if (leads && (over > limit || is_short)) {
      warm_up.push_back(step);
    } else if (std::abs(over) > limit && !is_short) {
      outliers.push_back(step);
    }
  }
  const auto leave_out = [&](const std::vector<std::size_t>& steps, StepState as) {
    for (const std::size_t step : steps) state[step] = static_cast<std::int64_t>(as);
  };
  // Steps of which so many differ have no other typical one.
  const std::size_t most = (of_thread.size() - 1) / 3;
  if (warm_up.size() <= most) leave_out(warm_up, StepState::warm_up);
  if (warm_up.size() + outliers.size() <= most) leave_out(outliers, StepState::outlier);
}

void add(std::vector<double>& sums, const core::LargeVector<std::int64_t>& values,
         std::size_t step) {
  const std::size_t count = sums.size();
  for (std::size_t i = 0; i < count; ++i) {
    sums[i] += static_cast<double>(values[step * count + i]);
  }
}

void add_square(double& sum, std::int64_t value, double mean) {
  const double distance = static_cast<double>(value) - mean;
  sum += distance * distance;
}

void add_squares(std::vector<double>& sums, const std::vector<double>& means,
                 const core::LargeVector<std::int64_t>& values, std::size_t step) {
  const std::size_t count = sums.size();
  for (std::size_t i = 0; i < count; ++i) add_square(sums[i], values[step * count + i], means[i]);
}

// The deviations of the typical steps from their means.
void find_deviations(const Steps& steps, TypicalStep& typical) {
  typical.cpu_std.assign(typical.cpu.size(), 0);
  typical.gpu_std.assign(typical.gpu.size(), 0);
  typical.idle_std.assign(typical.idle.size(), 0);
  if (typical.steps < 2) return;
  const double all_idle = std::accumulate(typical.idle.begin(), typical.idle.end(), 0.0);
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (static_cast<StepState>(typical.state[i]) != StepState::typical) continue;
    add_square(typical.duration_std, steps.duration[i], typical.duration);
    add_squares(typical.cpu_std, typical.cpu, steps.cpu, i);
    if (steps.is_gap(i)) continue;
    add_square(typical.busy_std, steps.busy[i], typical.busy);
    const auto idle = steps.idle.begin() + static_cast<std::ptrdiff_t>(i * typical.idle.size());
    const auto idle_end = idle + static_cast<std::ptrdiff_t>(typical.idle.size());
    add_square(typical.all_idle_std, std::accumulate(idle, idle_end, std::int64_t{0}), all_idle);
    add_squares(typical.gpu_std, typical.gpu, steps.gpu, i);
    add_squares(typical.idle_std, typical.idle, steps.idle, i);
  }
  const auto freedom = [](std::uint64_t count) {
    return static_cast<double>(std::max<std::uint64_t>(count, 2) - 1);
  };
  const double of_all = freedom(typical.steps), with_work = freedom(typical.steps_with_work);
  typical.duration_std = std::sqrt(typical.duration_std / of_all);
  for (double& sum : typical.cpu_std) sum = std::sqrt(sum / of_all);
  for (double* sum : {&typical.busy_std, &typical.all_idle_std}) *sum = std::sqrt(*sum / with_work);
  for (auto* sums : {&typical.gpu_std, &typical.idle_std}) {
    for (double& sum : *sums) sum = std::sqrt(sum / with_work);
  }
}

}  // namespace

TypicalStep typical_step(const Steps& steps) {
  TypicalStep typical;
  typical.state.assign(steps.size(), 0);
  std::map<std::int64_t, std::vector<std::size_t>> threads;
  for (std::size_t i = 0; i < steps.size(); ++i) threads[steps.thread[i]].push_back(i);
  for (const auto& thread : threads) judge(steps, thread.second, typical.state);
  typical.cpu.assign(steps.phases, 0);
  typical.gpu.assign(steps.phases, 0);
  typical.idle.assign(steps.phases + 1, 0);
  core::LargeVector<std::int64_t> durations, ahead, behind;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const auto state = static_cast<StepState>(typical.state[i]);
    if (state == StepState::warm_up) ++typical.warm_up;
    if (state == StepState::outlier) ++typical.outliers;
    if (state != StepState::typical) continue;
    durations.push_back(steps.duration[i]);
    typical.duration += static_cast<double>(steps.duration[i]);
    add(typical.cpu, steps.cpu, i);
    typical.waits += static_cast<double>(steps.waits[i]);
    typical.wait_calls += static_cast<double>(steps.wait_calls[i]);
    if (steps.is_gap(i)) continue;
    ++typical.steps_with_work;
    typical.busy += static_cast<double>(steps.busy[i]);
    typical.ops += static_cast<double>(steps.ops[i]);
    add(typical.gpu, steps.gpu, i);
    add(typical.idle, steps.idle, i);
    if (steps.ahead[i] >= 0) ahead.push_back(steps.ahead[i]);
    if (steps.behind[i] != Steps::not_known) behind.push_back(steps.behind[i]);
  }
  typical.steps = durations.size();
  if (durations.empty()) return typical;
  const auto count = static_cast<double>(durations.size());
  const auto with_work = static_cast<double>(std::max<std::uint64_t>(typical.steps_with_work, 1));
  for (double* sum : {&typical.duration, &typical.waits, &typical.wait_calls}) *sum /= count;
  for (double* sum : {&typical.busy, &typical.ops}) *sum /= with_work;
  for (double& sum : typical.cpu) sum /= count;
  for (auto* sums : {&typical.gpu, &typical.idle}) {
    for (double& sum : *sums) sum /= with_work;
  }
  find_deviations(steps, typical);
  typical.median = core::median(durations);
  typical.p90 = core::percentile(durations, 0.9);
  typical.p99 = core::percentile(durations, 0.99);
  typical.shortest = core::percentile(durations, 0);
  typical.longest = core::percentile(durations, 1);
  if (!ahead.empty()) typical.ahead = core::median(ahead);
  if (!behind.empty()) typical.behind = core::median(behind);
  return typical;
}

}  // namespace nvspan::reader
