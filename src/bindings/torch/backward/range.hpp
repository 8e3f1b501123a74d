// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The range of one module call in the backward pass, and the passes of autograd's engine.
//
// A pass is known by autograd's number of it: a graph may be run again, and passes may nest. The
// engine holds a Pass as a callback for its end and drops it when the pass raises, so what is open
// is closed either way. Everything here is called with the GIL; nothing leaves an exception set.

#include <cstdint>
#include <memory>
#include <vector>

#include "bindings/support/py.hpp"
#include "annotate/event/event.hpp"
#include "cuda/device_ranges.hpp"

namespace nvspan::bindings {

struct Annotation;

constexpr int64_t no_pass = -1;

// The pass whose hooks this thread runs.
int64_t current_pass() noexcept;

class BackwardRange {
 public:
  // The forward took autograd's sequence numbers from `first` to before `last`; `first` is also
  // the payload. `annotation` says how the range looks; the range keeps it.
  BackwardRange(Annotation* annotation, bool device, uint64_t first, uint64_t last) noexcept;
  ~BackwardRange();
  BackwardRange(const BackwardRange&) = delete;
  BackwardRange& operator=(const BackwardRange&) = delete;

  static void begin(const std::shared_ptr<BackwardRange>& range, int64_t pass) noexcept;
  // Ends it if it is that pass's: on the current stream, which is that of the node whose hook runs
  // and waits for what made its gradients, or on that on which it began.
  void end_here(int64_t pass) noexcept;
  void end(int64_t pass) noexcept;

  bool is_open() const noexcept { return span_.epoch != 0 || device_range_; }

  // Autograd runs the nodes of a thread latest first: where `next` begins on the thread on which
  // this one began, and its forward was over before this one's began, this one is through.
  bool is_before(const BackwardRange& next) const noexcept {
    return first_ >= next.last_ && forward_thread_ == next.forward_thread_ &&
           backward_thread_ == PyThread_get_thread_ident();
  }

  void close(bool on_current_stream = false) noexcept;

 private:
  void open() noexcept;

  Annotation* annotation_;  // owned
  const uint64_t first_;
  const uint64_t last_;
  const unsigned long forward_thread_;
  unsigned long backward_thread_ = 0;
  int64_t pass_ = no_pass;
  const bool device_;
  annotate::Span span_;
  cuda::DeviceRange* device_range_ = nullptr;  // owned
};

using BackwardRanges = std::vector<std::shared_ptr<BackwardRange>>;

int backward_range_init();

}  // namespace nvspan::bindings
