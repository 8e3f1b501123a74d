// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What this thread has pushed and not yet popped.
//
// The record makes a pop close what its push opened, and nothing else: a range whose push was not
// sent (no tool yet) sends no pop, a range that another attachment saw is forgotten, and an exit
// that has no matching entry on this thread closes nothing.

#include <cstddef>
#include <cstdint>

#include "annotate/event/check_hook.hpp"
#include "annotate/event/event.hpp"

#if defined(__GNUC__) && !defined(__APPLE__) && !defined(_WIN32)
#define NVSPAN_TLS_INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#else
#define NVSPAN_TLS_INITIAL_EXEC
#endif

namespace nvspan::annotate {

struct OpenRange {
  const void* owner;  // the object that pushed; null for push_range
  Domain* domain;
  uint64_t epoch;  // 0: the push was not sent
  uint64_t count;  // equal neighbours are stored once
};

// Plain data, so that the hot path reaches it by one load: 16 bytes of static TLS.
struct OpenRanges {
  OpenRange* entries;
  uint32_t size;
  uint32_t capacity;
};

// Pushes of the process beyond a thread's limit of a million: sent, but not recorded.
uint64_t dropped_pushes() noexcept;

namespace detail {
// Defined here: where it is only declared, each use first asks whether it is initialised.
inline thread_local OpenRanges open_ranges NVSPAN_TLS_INITIAL_EXEC = {nullptr, 0, 0};
void note_push_growing(const void* owner, Domain* domain, uint64_t epoch) noexcept;
void close_buried_range(const void* owner) noexcept;
void pop_buried_domain(Domain& domain) noexcept;
}  // namespace detail

// Records a push by `owner`.
[[gnu::always_inline]] inline void note_push(const void* owner, Domain* domain,
                                             uint64_t epoch) noexcept {
  OpenRanges& open = detail::open_ranges;
  if (open.size) {
    OpenRange& top = open.entries[open.size - 1];
    if (top.owner == owner && top.domain == domain && top.epoch == epoch) {
      ++top.count;
      return;
    }
  }
  if (open.size == open.capacity) return detail::note_push_growing(owner, domain, epoch);
  open.entries[open.size++] = {owner, domain, epoch, 1};
}

[[gnu::always_inline]] inline void pop_if_current(const Domain& domain, uint64_t epoch) noexcept {
  const ToolTable* tool = closing_tool();
  if (tool && tool->epoch.load(std::memory_order_acquire) == epoch) send_pop(domain, *tool);
}

// Closes the innermost range that `owner` has open on this thread; without one, does nothing.
[[gnu::always_inline]] inline void pop_owned(const void* owner) noexcept {
  OpenRanges& open = detail::open_ranges;
  if (open.size == 0) {
    if (const CheckHook* check = check_hook()) check->exit_without_enter(owner);
    return;
  }
  OpenRange& top = open.entries[open.size - 1];
  if (top.owner != owner) {
    detail::close_buried_range(owner);
    return;
  }
  const OpenRange closed = top;
  if (--top.count == 0) --open.size;
  pop_if_current(*closed.domain, closed.epoch);
}

// True if `owner` has a range open on this thread.
bool has_open_range(const void* owner) noexcept;

// pop_range: closes the innermost range of `domain` on this thread. With none open, the pop is
// passed to the tool as it is.
[[gnu::always_inline]] inline void pop_domain(Domain& domain) noexcept {
  OpenRanges& open = detail::open_ranges;
  if (open.size == 0 || open.entries[open.size - 1].domain != &domain) {
    detail::pop_buried_domain(domain);
    return;
  }
  OpenRange& top = open.entries[open.size - 1];
  const uint64_t epoch = top.epoch;
  if (--top.count == 0) --open.size;
  if (epoch != 0) pop_if_current(domain, epoch);
}

}  // namespace nvspan::annotate
