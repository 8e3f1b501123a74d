// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/clock/event_references.hpp"

#include <cmath>
#include <cstdlib>

namespace nvspan::cuda {

namespace {

constexpr size_t most_references = 64;
constexpr double near_ms = 4000;  // a float of milliseconds has steps of 0.25 us there
constexpr double poor_ns = 5000;  // the GPU was too busy: the older references are better

int64_t after(const EventReference& reference, float ms) noexcept {
  return reference.global + std::llround(static_cast<double>(ms) * 1e6);
}

}  // namespace

EventHandle EventReferences::add(const Driver& api, EventReference reference) noexcept {
  if (reference.half_width > poor_ns && !references_.empty()) {
    float ms = 0;
    if (api.cuEventElapsedTime(&ms, newest().event, reference.event) == success) {
      reference.global = after(newest(), ms);
      reference.half_width = newest().half_width + 100;
    }
  }
  EventHandle free = nullptr;
  if (references_.size() >= most_references) {
    free = references_.front().event;
    references_.erase(references_.begin());
  }
  references_.push_back(reference);
  return free;
}

Result EventReferences::time_of(const Driver& api, const ContextIdentity& context,
                                EventHandle event, int64_t& global) const noexcept {
  float ms = 0;
  if (!still_there(api, context)) return error_context_is_destroyed;
  const EventReference* reference = &newest();
  const Result result = api.cuEventElapsedTime(&ms, reference->event, event);
  if (result != success) return result;
  if (std::fabs(static_cast<double>(ms)) > near_ms) {
    const int64_t about = after(*reference, ms);
    for (const EventReference& other : references_) {
      if (std::llabs(other.global - about) < std::llabs(reference->global - about)) {
        reference = &other;
      }
    }
    if (!still_there(api, context)) return error_context_is_destroyed;
    const Result again = api.cuEventElapsedTime(&ms, reference->event, event);
    if (again != success) return again;
  }
  global = after(*reference, ms);
  return success;
}

}  // namespace nvspan::cuda
