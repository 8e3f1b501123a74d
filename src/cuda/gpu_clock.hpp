// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A GPU's clocks told in the processor's time stamp counter.
//
// Events and the GPU's globaltimer tick alike but have different zeros, and the time stamp counter
// has another rate. A calibration ties the three together: a kernel of one thread answers questions
// of the CPU with globaltimer (the shortest round trip counts), and events between two readings of
// globaltimer tell the events' zero. Times between two calibrations are interpolated.
//
// Used by one thread, with the context current; stamp_function() by any.

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "cuda/clock_fit.hpp"
#include "cuda/driver.hpp"

namespace nvspan::cuda {

class GpuClock {
 public:
  explicit GpuClock(const ContextIdentity& context) noexcept : context_(context) {}

  // Queues a calibration; advance() takes it further. Never waits for the GPU. False: the driver
  // refused, and there will be none.
  bool start(const Driver& api) noexcept;
  bool running() const noexcept { return running_; }

  // True when a calibration has been completed by this call. Does not wait for work of the program,
  // but spins for some 100 us while the GPU answers.
  bool advance(const Driver& api) noexcept;

  bool ready() const noexcept { return !fit_.empty() && reference_ != nullptr; }
  uint64_t last_calibration() const noexcept { return last_; }  // steady ns; 0: never
  uint64_t calibrations() const noexcept { return calibrations_; }

  // globaltimer, in ns, at which the event was recorded: not_ready as the driver says it.
  Result event_time(const Driver& api, EventHandle event, int64_t& global) const noexcept;

  // The time stamp counter at a time of globaltimer. `uncertainty`, in ns, is raised to that of
  // this time.
  int64_t to_time_stamp(int64_t global, uint32_t& uncertainty) const noexcept;

  // Whether the newest calibration tells what happens now well enough.
  bool fresh() const noexcept;

  FunctionHandle stamp_function(const Driver& api) noexcept;
  StreamHandle stream() const noexcept { return stream_; }

 private:
  using Point = ClockPoint;
  struct Reference {
    EventHandle event;
    int64_t global;
    double half_width;  // ns
  };

  bool prepare(const Driver& api) noexcept;
  bool load(const Driver& api) noexcept;
  Result query_finished(const Driver& api) const noexcept;
  bool ask(Point& point) noexcept;
  bool ask_slowly(const Driver& api, Point& point) noexcept;
  void read_references(const Driver& api) noexcept;

  static constexpr unsigned rounds = 32;
  static constexpr unsigned sandwiches = 8;

  const ContextIdentity context_;  // to be asked for while we wait: it may be destroyed meanwhile
  std::mutex load_mutex_;
  bool load_failed_ = false;  // under load_mutex_
  bool broken_ = false;
  bool running_ = false;
  uint64_t started_ = 0;
  uint64_t last_ = 0;
  uint64_t calibrations_ = 0;
  StreamHandle stream_ = nullptr;
  ModuleHandle module_ = nullptr;
  FunctionHandle stamp_ = nullptr;
  FunctionHandle clock_ = nullptr;
  FunctionHandle ping_ = nullptr;
  DevicePointer answers_on_gpu_ = 0;
  DevicePointer question_on_gpu_ = 0;
  uint64_t* answers_ = nullptr;  // pinned: rounds + 1, then the readings of the sandwiches
  uint32_t* question_ = nullptr;
  EventHandle between_[sandwiches] = {};
  EventHandle finished_ = nullptr;
  EventHandle reference_ = nullptr;    // the newest of references_
  std::vector<Reference> references_;  // oldest first; the events are reused
  ClockFit fit_;
  double nominal_ =
      1;  // ticks a ns, as of the newest calibration: the same for both ends of a range
};

}  // namespace nvspan::cuda
