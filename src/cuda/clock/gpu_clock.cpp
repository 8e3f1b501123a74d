// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/clock/gpu_clock.hpp"

#include <algorithm>

#include "core/os/clock.hpp"

namespace nvspan::cuda {

namespace {

constexpr uint64_t stalled_ns = 2'000'000;
// The first calibrations are made again for a while where they say little: a thread that loses its
// core while it asks knows the GPU's time to milliseconds.
constexpr double wide_ns = 20'000;
constexpr uint64_t longest_wide_ns = 100'000'000;
// A driver that is out of memory for a moment refuses a few calls: about a second is given.
constexpr unsigned most_refusals = 8;
constexpr uint64_t retry_after_ns = 25'000'000;

}  // namespace

bool GpuClock::start(const Driver& api) noexcept {
  const Phase phase = phase_.load(std::memory_order_acquire);
  if (phase != Phase::idle && !(phase == Phase::wanted && !asks())) return phase != Phase::broken;
  if (refusals_ != 0 && core::monotonic_ns() < retry_at_) return true;
  if (may_be_destroyed_) {
    wanted_since_.store(core::monotonic_ns(), std::memory_order_relaxed);
    if (phase == Phase::idle) set(Phase::wanted);
    return true;
  }
  launch(api);
  return !broken();
}

void GpuClock::launch(const Driver& api) noexcept {
  if (calibration_.launch(api)) {
    refusals_ = 0;
    set(Phase::running);
    return;
  }
  const unsigned delay = std::min(refusals_, 3U);
  retry_at_ = core::monotonic_ns() + (retry_after_ns << delay);
  ++refusals_;
  const bool usable = refusals_ < most_refusals && calibration_.stamp_function(api);
  set(usable ? Phase::idle : Phase::broken);
}

void GpuClock::start_wanted(const Driver& api) noexcept {
  Phase expected = Phase::wanted;
  if (phase_.compare_exchange_strong(expected, Phase::launching, std::memory_order_acquire)) {
    launch(api);
  }
}

bool GpuClock::stalled() const noexcept {
  return asks() &&
         core::monotonic_ns() - wanted_since_.load(std::memory_order_relaxed) > stalled_ns;
}

bool GpuClock::advance(const Driver& api) noexcept {
  if (!running()) return false;
  if (!calibration_.answering()) {
    const Result result = calibration_.finished(api);
    if (result != success && result != error_not_ready) set(Phase::broken);
    return false;
  }
  nominal_ = ticks_per_ns();
  ClockPoint point{};
  bool got = calibration_.may_be_asked(api) && calibration_.ask(point);
  const uint64_t began = core::monotonic_ns();
  Result result;
  // What is left takes microseconds unless the GPU is full: then the next round looks again.
  while ((result = calibration_.finished(api)) == error_not_ready) {
    if (core::monotonic_ns() - began > 50'000'000) break;
  }
  if (result != success) {
    if (got) fit_.add(point);
    set(result == error_not_ready ? Phase::idle : Phase::broken);
    return false;
  }
  const RelaxedCapture relaxed(api);
  EventReference reference{};
  if (calibration_.read_event(api, reference)) {
    calibration_.replace_event(references_.add(api, reference));
  }
  got =
      got || calibration_.asked_at_launch(point) ||
      (may_be_destroyed_ ? calibration_.bound_roughly(point) : calibration_.ask_slowly(api, point));
  if (got) fit_.add(point);
  set(Phase::idle);
  last_ = core::monotonic_ns();
  if (got && point.half_width > wide_ns && !may_be_destroyed_ &&
      calibrations_ < needed_calibrations()) {
    if (wide_since_ == 0) wide_since_ = last_;
    if (last_ - wide_since_ < longest_wide_ns) {
      last_ = 0;  // due at once
      return false;
    }
  }
  ++calibrations_;
  return got && ready();
}

int64_t GpuClock::to_time_stamp(int64_t global, uint32_t& uncertainty) const noexcept {
  double width = 0;
  const int64_t stamp = fit_.to_stamp(global, nominal_, width);
  width += references_.half_width();
  uncertainty = std::max(uncertainty, static_cast<uint32_t>(std::min(width, 4e9)));
  return stamp;
}

bool GpuClock::fresh() const noexcept {
  constexpr double longest_ns = 50e6;
  constexpr double most_drift_ns = 300;
  if (last_ == 0 || fit_.empty()) return false;
  const auto age = static_cast<double>(core::monotonic_ns() - last_);
  return age < longest_ns && fit_.drift_after(age, nominal_) < most_drift_ns;
}

}  // namespace nvspan::cuda
