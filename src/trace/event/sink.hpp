// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/immovable.hpp"
#include "trace/event/event.hpp"

#include <cstddef>

namespace nvspan::trace {

// Takes events one at a time: callers hold a lock around it.
class Sink : public core::Immovable {
 public:
  virtual ~Sink() = default;

  // False: this sink can take no more events. Throws std::bad_alloc when one event is too much.
  virtual bool write(const Event& event) = 0;
};

// Where a sink's lines go.
class Output : public core::Immovable {
 public:
  virtual ~Output() = default;

  // Writes all of it in one piece where the system can. False: it failed, and will go on failing.
  virtual bool write(const char* data, std::size_t size) noexcept = 0;
  virtual bool is_terminal() const noexcept = 0;
};

}  // namespace nvspan::trace
