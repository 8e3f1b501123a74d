// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// globaltimer at an event, from events at which it is known.

#include <cstdint>
#include <vector>

#include "cuda/driver/driver.hpp"

namespace nvspan::cuda {

struct EventReference {
  EventHandle event;
  int64_t global;     // ns of globaltimer at which it was recorded
  double half_width;  // ns by which that may be off
};

class EventReferences {
 public:
  bool empty() const noexcept { return references_.empty(); }
  double half_width() const noexcept { return references_.empty() ? 0 : newest().half_width; }

  // Takes the event of a reference newer than all others. Where it is poor it is corrected by the
  // one before. Returns an event that is free now, or null.
  EventHandle add(const Driver& api, EventReference reference) noexcept;

  // globaltimer, in ns, at which the event was recorded, or the driver's not_ready. At least one
  // reference must exist.
  Result time_of(const Driver& api, const ContextIdentity& context, EventHandle event,
                 int64_t& global) const noexcept;

 private:
  const EventReference& newest() const noexcept { return references_.back(); }

  std::vector<EventReference> references_;  // oldest first
};

}  // namespace nvspan::cuda
