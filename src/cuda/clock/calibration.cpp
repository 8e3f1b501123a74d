// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/clock/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "core/os/clock.hpp"
#include "cuda/clock/stamp_kernels.hpp"
#include "cuda/driver/driver.hpp"

namespace nvspan::cuda {

namespace {

constexpr uint64_t patience_ns = 5'000'000;  // of the kernel that answers
constexpr uint64_t answer_limit_ns = 2'000'000;

uint64_t read_pinned(const uint64_t* place) noexcept {
  return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

}  // namespace

double ticks_per_ns() noexcept {
  static const core::ClockPair base = core::read_together(core::time_stamp);
  while (core::monotonic_ns() - base.monotonic < 1'000'000) {
  }
  const core::ClockPair now = core::read_together(core::time_stamp);
  return static_cast<double>(now.ticks - base.ticks) /
         static_cast<double>(now.monotonic - base.monotonic);
}

bool Calibration::load(const Driver& api) noexcept {
  std::lock_guard<std::mutex> lock(load_mutex_);
  if (stamp_) return true;
  if (load_failed_) return false;
  const RelaxedCapture relaxed(api);
  load_failed_ = api.cuModuleLoadData(&module_, stamp_kernels_ptx) != success ||
                 api.cuModuleGetFunction(&clock_, module_, "nvspan_clock") != success ||
                 api.cuModuleGetFunction(&ping_, module_, "nvspan_ping") != success ||
                 api.cuModuleGetFunction(&stamp_, module_, "nvspan_stamp") != success;
  if (load_failed_) stamp_ = nullptr;
  return !load_failed_;
}

FunctionHandle Calibration::stamp_function(const Driver& api) noexcept {
  return load(api) ? stamp_ : nullptr;
}

bool Calibration::prepare(const Driver& api) noexcept {
  if (stream_) return true;
  if (!load(api)) return false;
  const RelaxedCapture relaxed(api);
  int lowest = 0;
  int highest = 0;
  api.cuCtxGetStreamPriorityRange(&lowest, &highest);
  constexpr size_t readings = rounds + 1 + 2 * sandwiches;
  constexpr size_t bytes = readings * sizeof(uint64_t) + 128;
  // What an attempt before got is kept.
  if (!answers_) {
    PinnedMemory memory;
    if (!allocate_pinned(api, bytes, memory)) return false;
    answers_ = static_cast<uint64_t*>(memory.host);
    answers_on_gpu_ = memory.device;
    question_ = reinterpret_cast<uint32_t*>(static_cast<char*>(memory.host) + bytes - 64);
    question_on_gpu_ = memory.device + bytes - 64;
  }
  for (EventHandle& event : between_) {
    if (!event && api.cuEventCreate(&event, 0) != success) return false;
  }
  if (!finished_ && api.cuEventCreate(&finished_, event_disable_timing) != success) return false;
  return api.cuStreamCreateWithPriority(&stream_, stream_non_blocking, highest) == success;
}

bool Calibration::launch(const Driver& api) noexcept {
  if (!prepare(api)) return false;
  if (!spare_ && api.cuEventCreate(&spare_, 0) != success) return false;
  // The kernel that answers may be there still, and would take the next one's questions.
  if (partly_launched_ && (!still_there(api, context_) || api.cuStreamQuery(stream_) != success)) {
    return false;
  }
  for (size_t i = 0; i < rounds + 1 + 2 * sandwiches; ++i) {
    __atomic_store_n(answers_ + i, 0, __ATOMIC_RELAXED);
  }
  __atomic_store_n(question_, 0, __ATOMIC_RELEASE);
  launched_ = core::time_stamp();
  const auto queue = [&](FunctionHandle function, void** arguments) {
    if (!still_there(api, context_)) return error_context_is_destroyed;
    return api.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr);
  };
  unsigned wanted = rounds;
  uint64_t patience = patience_ns;
  void* ping_arguments[] = {&answers_on_gpu_, &question_on_gpu_, &wanted, &patience};
  Result result = queue(ping_, ping_arguments);
  for (unsigned i = 0; i < sandwiches && result == success; ++i) {
    DevicePointer place = answers_on_gpu_ + (rounds + 1 + 2 * i) * sizeof(uint64_t);
    void* before[] = {&place};
    result = queue(clock_, before);
    if (result == success && !still_there(api, context_)) result = error_context_is_destroyed;
    if (result == success) result = api.cuEventRecord(between_[i], stream_);
    DevicePointer place_after = place + sizeof(uint64_t);
    void* after[] = {&place_after};
    if (result == success) result = queue(clock_, after);
  }
  if (result == success && !still_there(api, context_)) result = error_context_is_destroyed;
  if (result == success) result = api.cuEventRecord(finished_, stream_);
  // Where a launch returns only when its kernel has ended (a debugger, CUDA_LAUNCH_BLOCKING) nobody
  // can have asked the kernel.
  partly_launched_ = result != success;
  slow_ready_ = result == success && finished(api) == success && ask_slowly(api, slow_);
  return result == success;
}

bool Calibration::answering() const noexcept { return read_pinned(answers_) != 0; }

bool Calibration::may_be_asked(const Driver& api) const noexcept {
  return read_pinned(answers_ + 1) == 0 && finished(api) == error_not_ready;
}

Result Calibration::finished(const Driver& api) const noexcept {
  return still_there(api, context_) ? api.cuEventQuery(finished_) : error_context_is_destroyed;
}

bool Calibration::ask(ClockPoint& point) noexcept {
  double shortest = 1e18;
  for (uint32_t i = 1; i <= rounds; ++i) {
    const uint64_t began = core::monotonic_ns();
    const uint64_t asked = core::time_stamp();
    __atomic_store_n(question_, i, __ATOMIC_SEQ_CST);
    uint64_t answer = 0;
    for (unsigned spins = 0; (answer = read_pinned(answers_ + i)) == 0; ++spins) {
      if (spins % 1024 == 1023 && core::monotonic_ns() - began > answer_limit_ns) {
        __atomic_store_n(question_, rounds, __ATOMIC_SEQ_CST);
        return shortest < 1e18;
      }
    }
    const uint64_t answered = core::time_stamp();
    const double trip = static_cast<double>(answered - asked);
    if (trip >= shortest) continue;
    shortest = trip;
    point.global = static_cast<int64_t>(answer);
    point.stamp = static_cast<int64_t>(asked + (answered - asked) / 2);
    point.half_width = trip / 2 / ticks_per_ns();
  }
  return true;
}

bool Calibration::asked_at_launch(ClockPoint& point) const noexcept {
  if (slow_ready_) point = slow_;
  return slow_ready_;
}

// The time is somewhere between the launch of a kernel and its end.
bool Calibration::ask_slowly(const Driver& api, ClockPoint& point) noexcept {
  double shortest = 1e18;
  for (int i = 0; i < 16; ++i) {
    __atomic_store_n(answers_ + 1, 0, __ATOMIC_SEQ_CST);
    if (!still_there(api, context_)) return false;
    DevicePointer place = answers_on_gpu_ + sizeof(uint64_t);
    void* arguments[] = {&place};
    const uint64_t before = core::time_stamp();
    if (api.cuLaunchKernel(clock_, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr) != success) {
      return false;
    }
    const uint64_t began = core::monotonic_ns();
    uint64_t answer = 0;
    while ((answer = read_pinned(answers_ + 1)) == 0 &&
           core::monotonic_ns() - began < answer_limit_ns) {
    }
    const uint64_t after = core::time_stamp();
    const double width = static_cast<double>(after - before);
    if (answer == 0 || width >= shortest) continue;
    shortest = width;
    point.global = static_cast<int64_t>(answer);
    point.stamp = static_cast<int64_t>(before + (after - before) / 2);
    point.half_width = width / 2 / ticks_per_ns();
  }
  return shortest < 1e18;
}

// Better than never sending a range.
bool Calibration::bound_roughly(ClockPoint& point) const noexcept {
  const uint64_t reading = read_pinned(answers_ + rounds + 1);
  if (reading == 0) return false;
  const double width = static_cast<double>(core::time_stamp() - launched_);
  point.global = static_cast<int64_t>(reading);
  point.stamp = static_cast<int64_t>(launched_) + std::llround(width / 2);
  point.half_width = width / 2 / ticks_per_ns();
  return true;
}

bool Calibration::read_event(const Driver& api, EventReference& found) const noexcept {
  struct Reading {
    double width;
    double zero;  // of between_[0], in ns after the first reading
  };
  const uint64_t* readings = answers_ + rounds + 1;
  const auto base = static_cast<int64_t>(read_pinned(readings));
  std::vector<Reading> all;
  for (unsigned i = 0; i < sandwiches; ++i) {
    float ms = 0;
    if (!still_there(api, context_)) return false;
    if (i > 0 && api.cuEventElapsedTime(&ms, between_[0], between_[i]) != success) return false;
    const auto before = static_cast<int64_t>(read_pinned(readings + 2 * i));
    const auto after = static_cast<int64_t>(read_pinned(readings + 2 * i + 1));
    if (before == 0 || after < before) continue;
    const double middle =
        0.5 * (static_cast<double>(before - base) + static_cast<double>(after - base));
    all.push_back({static_cast<double>(after - before), middle - static_cast<double>(ms) * 1e6});
  }
  if (all.empty()) return false;
  double narrowest = 1e18;
  for (const Reading& reading : all) narrowest = std::min(narrowest, reading.width);
  std::vector<double> zeros;
  for (const Reading& reading : all) {
    if (reading.width <= narrowest * 1.5 + 100) zeros.push_back(reading.zero);
  }
  std::sort(zeros.begin(), zeros.end());
  const double zero = zeros[zeros.size() / 2];
  found = {between_[0], base + std::llround(zero), narrowest / 2};
  return true;
}

void Calibration::replace_event(EventHandle event) noexcept {
  between_[0] = event ? event : spare_;
  if (!event) spare_ = nullptr;
}

}  // namespace nvspan::cuda
