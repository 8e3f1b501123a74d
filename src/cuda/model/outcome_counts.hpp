// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The outcomes of the process's device ranges. Every lost range is counted in one of these.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvspan::cuda {

enum class Outcome : unsigned {
  begun,             // placed on a stream or into a graph
  sent_callback,     // sent to the tool by host functions
  sent_exact,        // sent to the tool as deferred events
  timed,             // measured for a handle
  no_cuda,           // asked for where the process has no usable CUDA: not placed
  capture_boundary,  // open across the beginning or end of a capture
  capture_skipped,   // asked for with capture="skip" during a capture
  capture_refused,   // the stream could not tell whether it captures, or refused nvspan's nodes
  ambiguous,         // replays of one graph ran at once: begin and end cannot be paired
  overrun,           // stamps overwritten before they were read
  unpaired,          // a stamp without its partner
  full,              // no room: too many ranges in flight
  context_lost,      // the context was reset or destroyed, or is broken, before the range was done
  tool_gone,         // the tool detached before the range was done
  driver_error,      // the driver refused a call
  not_taken,         // the tool shows no device ranges, or none of the backend asked for
  at_exit,           // not done when the process ended
  count
};

constexpr size_t outcomes = static_cast<size_t>(Outcome::count);
constexpr const char* outcome_names[outcomes] = {
    "begun",        "sent_callback",    "sent_exact",      "timed",
    "no_cuda",      "capture_boundary", "capture_skipped", "capture_refused",
    "ambiguous",    "overrun",          "unpaired",        "full",
    "context_lost", "tool_gone",        "driver_error",    "not_taken",
    "at_exit"};

class OutcomeCounts {
 public:
  void add(Outcome which, uint64_t amount = 1) noexcept {
    values_[static_cast<size_t>(which)].fetch_add(amount, std::memory_order_relaxed);
  }
  uint64_t get(Outcome which) const noexcept {
    return values_[static_cast<size_t>(which)].load(std::memory_order_relaxed);
  }

 private:
  std::atomic<uint64_t> values_[outcomes] = {};
};

// Of the process.
inline OutcomeCounts& outcome_counts() noexcept {
  static OutcomeCounts counts;
  return counts;
}

}  // namespace nvspan::cuda
