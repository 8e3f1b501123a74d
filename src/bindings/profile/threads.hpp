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

// A stretch in which a generator or coroutine runs.
struct ProfileStretch {
  uint32_t category = 0;  // 0: of another function
  bool begins = false;    // the call; else it resumes it
  uint64_t call = 0;
};

namespace detail {
inline std::atomic<uint64_t> profile_unseen_calls{0};
inline thread_local ProfileThread* profile_thread NVSPAN_TLS_INITIAL_EXEC = nullptr;
extern const char profile_owner;  // owner of the profile's ranges in the record of open ranges
ProfileThread* make_profile_thread() noexcept;
bool grow_profile_thread(ProfileThread& thread) noexcept;
void leave_buried(ProfileThread& thread, uintptr_t entry) noexcept;
}  // namespace detail

// The record of this thread; null without memory for one.
inline ProfileThread* profile_thread() noexcept {
  ProfileThread* thread = detail::profile_thread;
  return thread ? thread : detail::make_profile_thread();
}

// Which call of a generator or coroutine runs in `frame`. Its address alone would do, which another
// call gets once this one ended, if each call's begin were seen.
inline uint64_t profile_call(uintptr_t frame) noexcept {
  constexpr uint64_t unseen = (1u << 19) - 1;
  return uint64_t{frame} >> 3 << 19 |
         (detail::profile_unseen_calls.load(std::memory_order_relaxed) & unseen);
}
inline void profile_miss_calls() noexcept {
  detail::profile_unseen_calls.fetch_add(1, std::memory_order_relaxed);
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
      if (stretch.category != 0) {
        out.attributes.category = stretch.category;
        out.attributes.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
        out.attributes.payload.ullValue = stretch.call;
      }
      annotate::send_push(out, *tool);
      annotate::note_push(&detail::profile_owner, event.domain, out.epoch);
      entry |= profile_sent;
    }
  }
  if (stretch.begins && !(entry & profile_sent)) profile_miss_calls();
  thread.entries[size] = entry;
  thread.size.store(size + 1, std::memory_order_relaxed);
}

// Closes `entry` if it is the innermost. False if it is not: see profile_leave_any.
inline bool profile_leave(ProfileThread& thread, uintptr_t entry) noexcept {
  const uint32_t size = thread.size.load(std::memory_order_relaxed);
  if (size == 0) return false;
  const uintptr_t top = thread.entries[size - 1];
  if ((top & ~profile_sent) != entry) return false;
  thread.size.store(size - 1, std::memory_order_relaxed);
  if (top & profile_sent) annotate::pop_owned(&detail::profile_owner);
  return true;
}

// Closes `entry`, wherever it is, and all above it; without it, does nothing.
inline void profile_leave_any(ProfileThread& thread, uintptr_t entry) noexcept {
  if (!profile_leave(thread, entry)) detail::leave_buried(thread, entry);
}

// Closes all that this thread, whose record it is, has open.
void profile_close_all(ProfileThread& thread) noexcept;

// Whether any thread has something open.
bool profile_any_open() noexcept;

}  // namespace nvspan::bindings
