// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One reading of a GPU's clocks: a kernel of one thread answers questions of the CPU with
// globaltimer (the shortest round trip counts), and events between two readings of globaltimer give
// its value when the first of them was recorded.
//
// Used by one thread at a time, with the context current; stamp_function() by any.

#include <cstdint>
#include <mutex>

#include "cuda/clock/clock_fit.hpp"
#include "cuda/clock/event_references.hpp"
#include "cuda/driver/driver.hpp"

namespace nvspan::cuda {

// Ticks of the time stamp counter in a nanosecond, as the system's clock has it: for widths, not
// for times.
double ticks_per_ns() noexcept;

class Calibration {
 public:
  explicit Calibration(const ContextIdentity& context) noexcept : context_(context) {}

  FunctionHandle stamp_function(const Driver& api) noexcept;

  // Queues the kernels and events. Never waits for the GPU, unless each launch does. False: the
  // driver refused.
  bool launch(const Driver& api) noexcept;

  // Whether the kernel that answers has begun.
  bool answering() const noexcept;
  // Whether it can be asked: none of its answers was used, and it has not given up.
  bool may_be_asked(const Driver& api) const noexcept;
  // The driver's not_ready until everything that was queued is over.
  Result finished(const Driver& api) const noexcept;

  // Asks the kernel that answers; spins for some 100 us. False: no answer came.
  bool ask(ClockPoint& point) noexcept;
  // The result found at the launch, if the launch had to wait for its kernels.
  bool asked_at_launch(ClockPoint& point) const noexcept;
  // Launches kernels to ask, once everything that was queued is over.
  bool ask_slowly(const Driver& api, ClockPoint& point) noexcept;
  // Launches nothing: the GPU read its clock between the launch and now.
  bool bound_roughly(ClockPoint& point) const noexcept;

  // globaltimer at the first event. False: it cannot be determined.
  bool read_event(const Driver& api, EventReference& found) const noexcept;
  // That event is in use elsewhere now; this one, or null, takes its place.
  void replace_event(EventHandle event) noexcept;

 private:
  bool load(const Driver& api) noexcept;
  bool prepare(const Driver& api) noexcept;

  static constexpr unsigned rounds = 32;
  static constexpr unsigned sandwiches = 8;

  const ContextIdentity context_;  // checked during waits, in which it may be destroyed
  std::mutex load_mutex_;
  bool load_failed_ = false;  // under load_mutex_
  uint64_t launched_ = 0;     // time stamp
  bool slow_ready_ = false;
  bool partly_launched_ = false;  // and then refused
  ClockPoint slow_{};
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
  EventHandle spare_ = nullptr;  // to take the place of between_[0]
  EventHandle finished_ = nullptr;
};

}  // namespace nvspan::cuda
