// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Converts a GPU's clocks to the processor's time stamp counter.
//
// Events and the GPU's globaltimer tick alike but have different zeros, and the time stamp counter
// has another rate. A calibration ties the three together. Times between two calibrations are
// interpolated.
//
// Used by one thread, with the context current; stamp_function() and start_if_wanted() by any.
//
// A launch into a context that another thread destroys meanwhile breaks CUDA for the whole process
// (the next cuCtxCreate answers 719, or hangs); queries and a kernel that still runs do not. So
// only the program's own threads launch kernels into a context that the program may destroy, and
// only while they use it.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "cuda/clock/calibration.hpp"
#include "cuda/clock/clock_fit.hpp"
#include "cuda/clock/event_references.hpp"
#include "cuda/driver/driver.hpp"

namespace nvspan::cuda {

class GpuClock {
 public:
  GpuClock(const ContextIdentity& context, bool may_be_destroyed) noexcept
      : context_(context),
        may_be_destroyed_(may_be_destroyed),
        phase_(may_be_destroyed ? Phase::wanted : Phase::idle),
        calibration_(context) {}

  // Queues a calibration, or leaves that to a thread of the program; advance() takes it further.
  // Never waits for the GPU. One that the driver refuses is tried again. False: broken().
  bool start(const Driver& api) noexcept;
  void start_if_wanted(const Driver& api) noexcept {
    if (phase_.load(std::memory_order_relaxed) == Phase::wanted) start_wanted(api);
  }
  // The driver has refused too often: there will be no more calibrations.
  bool broken() const noexcept { return phase_.load(std::memory_order_acquire) == Phase::broken; }
  bool running() const noexcept { return phase_.load(std::memory_order_acquire) == Phase::running; }
  // Whether a calibration is asked of the program's threads, and whether none came to start it.
  bool asks() const noexcept {
    return phase_.load(std::memory_order_acquire) == Phase::wanted &&
           wanted_since_.load(std::memory_order_relaxed) != 0;
  }
  bool stalled() const noexcept;
  uint64_t needed_calibrations() const noexcept { return may_be_destroyed_ ? 1 : 2; }

  // True when a calibration has been completed by this call. It spins, on the poller's thread,
  // while the GPU answers: about 100 us, and some 50 ms at most where the program's work fills the
  // GPU.
  bool advance(const Driver& api) noexcept;

  bool ready() const noexcept { return !fit_.empty() && !references_.empty(); }
  uint64_t last_calibration() const noexcept { return last_; }  // monotonic ns; 0: never
  uint64_t calibrations() const noexcept { return calibrations_; }

  // globaltimer, in ns, at which the event was recorded, or the driver's not_ready.
  Result event_time(const Driver& api, EventHandle event, int64_t& global) const noexcept {
    return references_.time_of(api, context_, event, global);
  }

  // The time stamp counter at a time of globaltimer. `uncertainty`, in ns, is raised to that of
  // this time.
  int64_t to_time_stamp(int64_t global, uint32_t& uncertainty) const noexcept;

  // Whether the newest calibration is good enough for the present time.
  bool fresh() const noexcept;

  FunctionHandle stamp_function(const Driver& api) noexcept {
    return calibration_.stamp_function(api);
  }

 private:
  // The phase decides which thread may use the members below: while `launching` the one that
  // starts, else the one that calls advance().
  enum class Phase : uint8_t { idle, wanted, launching, running, broken };

  void start_wanted(const Driver& api) noexcept;
  void launch(const Driver& api) noexcept;
  void set(Phase phase) noexcept { phase_.store(phase, std::memory_order_release); }

  const ContextIdentity context_;
  const bool may_be_destroyed_;
  std::atomic<Phase> phase_;
  std::atomic<uint64_t> wanted_since_{0};  // monotonic ns; 0: the first one, of the first range
  unsigned refusals_ = 0;                  // by the driver, one after the other
  uint64_t retry_at_ = 0;                  // monotonic ns
  uint64_t last_ = 0;
  uint64_t calibrations_ = 0;
  uint64_t wide_since_ = 0;  // monotonic ns; 0: no calibration had to be made again
  Calibration calibration_;
  EventReferences references_;
  ClockFit fit_;
  double nominal_ =
      1;  // ticks a ns, as of the newest calibration: the same for both ends of a range
};

}  // namespace nvspan::cuda
