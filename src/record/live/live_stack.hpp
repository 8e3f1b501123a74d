// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The writer's side of a thread's block. Only the block's thread calls these, but for
// end_started().

#pragma once

#include "record/file/live_format.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::record {

// What an entry has of the thread's count when its range is opened in this state.
inline std::uint64_t live_stamp(std::uint64_t state) noexcept {
  return state << (live_stamp_shift - live_count_shift) & live_stamp_mask;
}

inline void live_push(LiveBlock& block, std::uint64_t entry) noexcept {
  const std::uint64_t state = block.state.load(std::memory_order_relaxed);
  const std::uint64_t depth = state & live_depth_mask;
  if (__builtin_expect(depth < live_most_open, 1)) {
    block.open[depth].store(entry | live_stamp(state), std::memory_order_release);
  } else if (depth == live_depth_mask) {
    return;
  }
  block.state.store(state + live_one_event + 1, std::memory_order_release);
}

void live_remove(LiveBlock& block, std::uint64_t domain) noexcept;  // any but the innermost

// `domain` is a handle; an end of what is not open changes nothing.
inline void live_pop(LiveBlock& block, std::uint64_t domain) noexcept {
  const std::uint64_t state = block.state.load(std::memory_order_relaxed);
  const std::uint64_t depth = state & live_depth_mask;
  if (__builtin_expect(depth - 1 < live_most_open, 1)) {
    const std::uint64_t top = block.open[depth - 1].load(std::memory_order_relaxed);
    if (__builtin_expect(((top >> live_domain_shift ^ domain) & live_domain_mask) == 0, 1)) {
      block.state.store(state + live_one_event - 1, std::memory_order_release);
      return;
    }
  }
  live_remove(block, domain);
}

// An event that opens and closes nothing.
inline void live_touch(LiveBlock& block) noexcept {
  block.state.store(block.state.load(std::memory_order_relaxed) + live_one_event,
                    std::memory_order_release);
}

// A place for a start/end range. Null: all are in use.
inline LiveStart* live_free_start(LiveBlock& block) noexcept {
  for (LiveStart& place : block.started) {
    if (place.id.load(std::memory_order_acquire) == 0) return &place;
  }
  return nullptr;
}
inline void live_start_at(LiveBlock& block, LiveStart& place, std::uint64_t id, std::uint64_t entry,
                          std::uint64_t ticks) noexcept {
  const std::uint64_t stamp = live_stamp(block.state.load(std::memory_order_relaxed));
  live_touch(block);
  place.entry.store(entry | stamp, std::memory_order_release);
  place.ticks.store(ticks, std::memory_order_release);
  place.id.store(id, std::memory_order_release);
}
// False: there was no place, and the range is only counted.
bool live_start(LiveBlock& block, std::uint64_t id, std::uint64_t entry,
                std::uint64_t ticks) noexcept;

// From any thread. Null: the range has no place here.
inline LiveStart* live_find_start(LiveBlock& block, std::uint64_t id) noexcept {
  for (LiveStart& place : block.started) {
    if (place.id.load(std::memory_order_acquire) == id) return &place;
  }
  return nullptr;
}
// What was loaded from the place before this call is the range's if it returns true. False: another
// thread has ended it.
inline bool live_free_place(LiveStart& place, std::uint64_t id) noexcept {
  return place.id.compare_exchange_strong(id, 0, std::memory_order_acq_rel);
}
void live_end(LiveBlock& block, std::uint64_t id) noexcept;  // from any thread
bool live_has_started(const LiveBlock& block) noexcept;

void live_take(LiveBlock& block, std::uint32_t thread, std::uint32_t tid,
               std::uint64_t ticks) noexcept;
void live_set_name(LiveBlock& block, const char* name, std::size_t bytes) noexcept;
// Its open ranges go; those of start and end stay.
void live_clear(LiveBlock& block) noexcept;

}  // namespace nvspan::record
