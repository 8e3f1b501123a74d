// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What each thread has entered and not left under the profile: Python frames, and C functions that
// they called.
//
// An exit closes what the same frame opened, and nothing else. An exit that opened nothing (the
// frame is older than the profile, or was resumed unseen) closes nothing. What lies above the
// frame that exits has lost its own exit (another tool's callback raised, a greenlet was switched)
// and is closed with it.

#include <atomic>
#include <cstdint>

#include "annotate/event/open_ranges.hpp"
#include "bindings/profile/calls.hpp"

namespace nvspan::bindings {

struct ProfileThread {
  // Addresses of frames, with the bits below.
  uintptr_t* entries = nullptr;
  std::atomic<uint32_t> size{0};  // written by its thread alone
  uint32_t capacity = 0;
  uint64_t session = 0;  // that the entries belong to
  ProfileThread* next = nullptr;
  ProfileThread* previous = nullptr;
};

constexpr uintptr_t profile_sent = 1;        // a range was opened
constexpr uintptr_t profile_c_function = 2;  // the C function that the frame is calling
constexpr uintptr_t profile_stretch = 4;     // the frame is a generator's or coroutine's

// A stretch in which a generator or coroutine runs.
struct ProfileStretch {
  uint32_t category = 0;  // 0: of another function
  uint64_t call = 0;
};

inline void profile_describe_stretch(annotate::Outgoing& out,
                                     const ProfileStretch& stretch) noexcept {
  out.attributes.category = stretch.category;
  out.attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  out.attributes.payload.ullValue = stretch.call;
}

namespace detail {
inline thread_local ProfileThread* profile_thread NVSPAN_TLS_INITIAL_EXEC = nullptr;
extern const char profile_owner;  // owner of the profile's ranges in the record of open ranges
ProfileThread* make_profile_thread() noexcept;
bool grow_profile_thread(ProfileThread& thread) noexcept;
// Whether the entry was a stretch.
bool leave_buried(ProfileThread& thread, uintptr_t entry) noexcept;
}  // namespace detail

// The record of this thread; null without memory for one.
inline ProfileThread* profile_thread() noexcept {
  ProfileThread* thread = detail::profile_thread;
  return thread ? thread : detail::make_profile_thread();
}

// Notes that `entry` (a frame's address, perhaps with profile_c_function) was entered, and opens a
// range for it if a tool wants it and fewer than `max_depth` others are open.
inline void profile_enter(ProfileThread& thread, uintptr_t entry, annotate::ReadyEvent& event,
                          uint32_t max_depth, const ProfileStretch& stretch = {}) noexcept {
  const uint32_t size = thread.size.load(std::memory_order_relaxed);
  if (size == thread.capacity && !detail::grow_profile_thread(thread)) return;
  if (size < max_depth) {
    const annotate::ToolTable* tool = annotate::listening_tool();
    annotate::Outgoing out;
    if (tool && annotate::prepare(event, *tool, out)) {
      if (stretch.category != 0) profile_describe_stretch(out, stretch);
      annotate::send_push(out, *tool);
      annotate::note_push(&detail::profile_owner, event.domain, out.epoch);
      entry |= profile_sent;
    }
  }
  if (stretch.category != 0) entry |= profile_stretch;
  thread.entries[size] = entry;
  thread.size.store(size + 1, std::memory_order_relaxed);
}

// Closes `entry` if it is the innermost. False if it is not: see profile_leave_any. Of a generator
// or coroutine `is_suspended()` tells whether it may go on.
template <typename IsSuspended>
bool profile_leave(ProfileThread& thread, uintptr_t entry,
                   const IsSuspended& is_suspended) noexcept {
  const uint32_t size = thread.size.load(std::memory_order_relaxed);
  if (size == 0) return false;
  const uintptr_t top = thread.entries[size - 1];
  if ((top & ~(profile_sent | profile_stretch)) != entry) return false;
  thread.size.store(size - 1, std::memory_order_relaxed);
  if (top & profile_sent) annotate::pop_owned(&detail::profile_owner);
  if (top & profile_stretch) profile_leave_call(entry, is_suspended());
  return true;
}

// Closes `entry`, wherever it is, and all above it; without it, does nothing.
template <typename IsSuspended>
void profile_leave_any(ProfileThread& thread, uintptr_t entry,
                       const IsSuspended& is_suspended) noexcept {
  if (profile_leave(thread, entry, is_suspended)) return;
  if (detail::leave_buried(thread, entry)) profile_leave_call(entry, is_suspended());
}

// Closes all that this thread, whose record it is, has open.
void profile_close_all(ProfileThread& thread) noexcept;

// Whether any thread has something open.
bool profile_any_open() noexcept;

}  // namespace nvspan::bindings
