// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "trace/event/event.hpp"

namespace nvspan::trace {

// Takes events one at a time: callers hold a lock around it.
class Sink {
 public:
  Sink() = default;
  Sink(const Sink&) = delete;
  Sink& operator=(const Sink&) = delete;
  Sink(Sink&&) = delete;
  Sink& operator=(Sink&&) = delete;
  virtual ~Sink() = default;

  // False: this sink can take no more events. Throws std::bad_alloc when one event is too much.
  virtual bool write(const Event& event) = 0;
};

}  // namespace nvspan::trace
