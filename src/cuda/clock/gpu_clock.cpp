// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/clock/gpu_clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "core/os/clock.hpp"
#include "cuda/clock/stamp_kernels.hpp"
#include "cuda/driver/pinned_memory.hpp"

namespace nvspan::cuda {

namespace {

constexpr uint64_t patience_ns = 20'000'000;  // of the kernel that answers
constexpr uint64_t answer_limit_ns = 2'000'000;
constexpr uint64_t stalled_ns = 2'000'000;
constexpr size_t most_references = 64;
constexpr double near_ms = 4000;  // a float of milliseconds has steps of 0.25 us there

// Ticks of the time stamp counter in a nanosecond, as the system's clock has it: for widths, not
// for times.
double ticks_per_ns() noexcept {
  struct Base {
    uint64_t steady = core::steady_ns();
    uint64_t stamp = core::time_stamp();
  };
  static const Base base;
  uint64_t steady = core::steady_ns();
  while (steady - base.steady < 1'000'000) steady = core::steady_ns();
  return static_cast<double>(core::time_stamp() - base.stamp) /
         static_cast<double>(steady - base.steady);
}

uint64_t read_pinned(const uint64_t* place) noexcept {
  return __atomic_load_n(place, __ATOMIC_ACQUIRE);
}

}  // namespace

bool GpuClock::load(const Driver& api) noexcept {
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

FunctionHandle GpuClock::stamp_function(const Driver& api) noexcept {
  return load(api) ? stamp_ : nullptr;
}

bool GpuClock::prepare(const Driver& api) noexcept {
  if (stream_) return true;
  if (!load(api)) return false;
  const RelaxedCapture relaxed(api);
  int lowest = 0;
  int highest = 0;
  api.cuCtxGetStreamPriorityRange(&lowest, &highest);
  constexpr size_t readings = rounds + 1 + 2 * sandwiches;
  constexpr size_t bytes = readings * sizeof(uint64_t) + 128;
  PinnedMemory memory;
  if (!allocate_pinned(api, bytes, memory)) return false;
  answers_ = static_cast<uint64_t*>(memory.host);
  answers_on_gpu_ = memory.device;
  question_ = reinterpret_cast<uint32_t*>(static_cast<char*>(memory.host) + bytes - 64);
  question_on_gpu_ = memory.device + bytes - 64;
  for (EventHandle& event : between_) {
    if (api.cuEventCreate(&event, 0) != success) return false;
  }
  if (api.cuEventCreate(&finished_, event_disable_timing) != success) return false;
  return api.cuStreamCreateWithPriority(&stream_, stream_non_blocking, highest) == success;
}

bool GpuClock::start(const Driver& api) noexcept {
  const Phase phase = phase_.load(std::memory_order_acquire);
  if (phase != Phase::idle && !(phase == Phase::wanted && !asks())) return phase != Phase::broken;
  if (may_be_destroyed_) {
    wanted_since_.store(core::steady_ns(), std::memory_order_relaxed);
    if (phase == Phase::idle) set(Phase::wanted);
    return true;
  }
  const bool launched = launch_all(api);
  set(launched ? Phase::running : Phase::broken);
  return launched;
}

void GpuClock::start_wanted(const Driver& api) noexcept {
  Phase expected = Phase::wanted;
  if (phase_.compare_exchange_strong(expected, Phase::launching, std::memory_order_acquire)) {
    set(launch_all(api) ? Phase::running : Phase::broken);
  }
}

bool GpuClock::stalled() const noexcept {
  return asks() && core::steady_ns() - wanted_since_.load(std::memory_order_relaxed) > stalled_ns;
}

bool GpuClock::launch_all(const Driver& api) noexcept {
  if (!prepare(api)) return false;
  if (!spare_ && api.cuEventCreate(&spare_, 0) != success) return false;
  for (size_t i = 0; i < rounds + 1 + 2 * sandwiches; ++i) {
    __atomic_store_n(answers_ + i, 0, __ATOMIC_RELAXED);
  }
  __atomic_store_n(question_, 0, __ATOMIC_RELEASE);
  launched_ = core::time_stamp();
  const auto launch = [&](FunctionHandle function, void** arguments) {
    if (!still_there(api, context_)) return error_context_is_destroyed;
    return api.cuLaunchKernel(function, 1, 1, 1, 1, 1, 1, 0, stream_, arguments, nullptr);
  };
  unsigned wanted = rounds;
  uint64_t patience = patience_ns;
  void* ping_arguments[] = {&answers_on_gpu_, &question_on_gpu_, &wanted, &patience};
  Result result = launch(ping_, ping_arguments);
  for (unsigned i = 0; i < sandwiches && result == success; ++i) {
    DevicePointer place = answers_on_gpu_ + (rounds + 1 + 2 * i) * sizeof(uint64_t);
    void* before[] = {&place};
    result = launch(clock_, before);
    if (result == success && !still_there(api, context_)) result = error_context_is_destroyed;
    if (result == success) result = api.cuEventRecord(between_[i], stream_);
    DevicePointer place_after = place + sizeof(uint64_t);
    void* after[] = {&place_after};
    if (result == success) result = launch(clock_, after);
  }
  if (result == success && !still_there(api, context_)) result = error_context_is_destroyed;
  if (result == success) result = api.cuEventRecord(finished_, stream_);
  // Where a launch returns only when its kernel has ended (a debugger, CUDA_LAUNCH_BLOCKING) nobody
  // can have asked the kernel.
  slow_ready_ = result == success && query_finished(api) == success && ask_slowly(api, slow_);
  return result == success;
}

bool GpuClock::ask(Point& point) noexcept {
  double shortest = 1e18;
  for (uint32_t i = 1; i <= rounds; ++i) {
    const uint64_t began = core::steady_ns();
    const uint64_t asked = core::time_stamp();
    __atomic_store_n(question_, i, __ATOMIC_SEQ_CST);
    uint64_t answer = 0;
    for (unsigned spins = 0; (answer = read_pinned(answers_ + i)) == 0; ++spins) {
      if (spins % 1024 == 1023 && core::steady_ns() - began > answer_limit_ns) {
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

// The time is somewhere between the launch of a kernel and its end.
bool GpuClock::ask_slowly(const Driver& api, Point& point) noexcept {
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
    const uint64_t began = core::steady_ns();
    uint64_t answer = 0;
    while ((answer = read_pinned(answers_ + 1)) == 0 &&
           core::steady_ns() - began < answer_limit_ns) {
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

// The GPU read its clock after the launch and before now. Better than never telling a range.
bool GpuClock::bound_roughly(Point& point) const noexcept {
  const uint64_t reading = read_pinned(answers_ + rounds + 1);
  if (reading == 0) return false;
  const double width = static_cast<double>(core::time_stamp() - launched_);
  point.global = static_cast<int64_t>(reading);
  point.stamp = static_cast<int64_t>(launched_) + std::llround(width / 2);
  point.half_width = width / 2 / ticks_per_ns();
  return true;
}

void GpuClock::read_references(const Driver& api) noexcept {
  struct Reading {
    double width;
    double zero;  // of between_[0], in ns after the first reading
  };
  const uint64_t* readings = answers_ + rounds + 1;
  const auto base = static_cast<int64_t>(read_pinned(readings));
  std::vector<Reading> found;
  for (unsigned i = 0; i < sandwiches; ++i) {
    float ms = 0;
    if (!still_there(api, context_)) return;
    if (i > 0 && api.cuEventElapsedTime(&ms, between_[0], between_[i]) != success) return;
    const auto before = static_cast<int64_t>(read_pinned(readings + 2 * i));
    const auto after = static_cast<int64_t>(read_pinned(readings + 2 * i + 1));
    if (before == 0 || after < before) continue;
    const double middle =
        0.5 * (static_cast<double>(before - base) + static_cast<double>(after - base));
    found.push_back({static_cast<double>(after - before), middle - static_cast<double>(ms) * 1e6});
  }
  if (found.empty()) return;
  double narrowest = 1e18;
  for (const Reading& reading : found) narrowest = std::min(narrowest, reading.width);
  std::vector<double> zeros;
  for (const Reading& reading : found) {
    if (reading.width <= narrowest * 1.5 + 100) zeros.push_back(reading.zero);
  }
  std::sort(zeros.begin(), zeros.end());
  const double zero = zeros[zeros.size() / 2];
  Reference made{between_[0], base + std::llround(zero), narrowest / 2};
  constexpr double poor_ns = 5000;  // the GPU was too full: what is known already is better
  if (made.half_width > poor_ns && !references_.empty()) {
    const Reference& last = references_.back();
    float ms = 0;
    if (api.cuEventElapsedTime(&ms, last.event, between_[0]) == success) {
      made.global = last.global + std::llround(static_cast<double>(ms) * 1e6);
      made.half_width = last.half_width + 100;
    }
  }
  if (references_.size() >= most_references) {
    between_[0] = references_.front().event;
    references_.erase(references_.begin());
  } else {
    between_[0] = spare_;
    spare_ = nullptr;
  }
  references_.push_back(made);
  reference_ = made.event;
}

Result GpuClock::query_finished(const Driver& api) const noexcept {
  return still_there(api, context_) ? api.cuEventQuery(finished_) : error_context_is_destroyed;
}

bool GpuClock::advance(const Driver& api) noexcept {
  if (!running()) return false;
  const bool answering = read_pinned(answers_) != 0;
  if (!answering) {
    const Result result = query_finished(api);
    if (result != success && result != error_not_ready) set(Phase::broken);
    return false;
  }
  nominal_ = ticks_per_ns();
  Point point{};
  bool got = read_pinned(answers_ + 1) == 0 && query_finished(api) == error_not_ready;
  if (got) got = ask(point);
  const uint64_t began = core::steady_ns();
  Result result;
  // What is left takes microseconds unless the GPU is full: then the next round looks again.
  while ((result = query_finished(api)) == error_not_ready) {
    if (core::steady_ns() - began > 50'000'000) break;
  }
  if (result != success) {
    if (got) fit_.add(point);
    set(result == error_not_ready ? Phase::idle : Phase::broken);
    return false;
  }
  const RelaxedCapture relaxed(api);
  read_references(api);
  if (!got && slow_ready_) {
    point = slow_;
    got = true;
  }
  if (!got) got = may_be_destroyed_ ? bound_roughly(point) : ask_slowly(api, point);
  if (got) fit_.add(point);
  last_ = core::steady_ns();
  ++calibrations_;
  set(Phase::idle);
  return got && ready();
}

Result GpuClock::event_time(const Driver& api, EventHandle event, int64_t& global) const noexcept {
  float ms = 0;
  if (!still_there(api, context_)) return error_context_is_destroyed;
  const Result result = api.cuEventElapsedTime(&ms, reference_, event);
  if (result != success) return result;
  const Reference* reference = &references_.back();
  if (std::fabs(static_cast<double>(ms)) > near_ms) {
    const int64_t about = reference->global + std::llround(static_cast<double>(ms) * 1e6);
    for (const Reference& other : references_) {
      if (std::llabs(other.global - about) < std::llabs(reference->global - about)) {
        reference = &other;
      }
    }
    if (!still_there(api, context_)) return error_context_is_destroyed;
    const Result again = api.cuEventElapsedTime(&ms, reference->event, event);
    if (again != success) return again;
  }
  global = reference->global + std::llround(static_cast<double>(ms) * 1e6);
  return success;
}

int64_t GpuClock::to_time_stamp(int64_t global, uint32_t& uncertainty) const noexcept {
  double width = 0;
  const int64_t stamp = fit_.to_stamp(global, nominal_, width);
  if (!references_.empty()) width += references_.back().half_width;
  uncertainty = std::max(uncertainty, static_cast<uint32_t>(std::min(width, 4e9)));
  return stamp;
}

bool GpuClock::fresh() const noexcept {
  constexpr double longest_ns = 50e6;
  constexpr double most_drift_ns = 300;
  if (last_ == 0 || fit_.empty()) return false;
  const auto age = static_cast<double>(core::steady_ns() - last_);
  return age < longest_ns && fit_.drift_after(age, nominal_) < most_drift_ns;
}

}  // namespace nvspan::cuda
