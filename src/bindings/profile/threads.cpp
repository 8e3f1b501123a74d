// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/profile/threads.hpp"

#include <cstdlib>
#include <mutex>
#include <new>

#include "core/os/fork_lock.hpp"

namespace nvspan::bindings {

namespace detail {
const char profile_owner = 0;
}  // namespace detail

namespace {

// All records. Immortal, because threads end after the module.
struct ProfiledThreads {
  std::mutex mutex;
  ProfileThread* first = nullptr;
};

ProfiledThreads& registry() noexcept {
  static ProfiledThreads* const instance = new ProfiledThreads;
  return *instance;
}

void link(ProfileThread& thread) noexcept {
  ProfiledThreads& all = registry();
  thread.next = all.first;
  thread.previous = nullptr;
  if (all.first) all.first->previous = &thread;
  all.first = &thread;
}

void unlink(ProfileThread& thread) noexcept {
  ProfiledThreads& all = registry();
  if (thread.previous)
    thread.previous->next = thread.next;
  else
    all.first = thread.next;
  if (thread.next) thread.next->previous = thread.previous;
}

struct ReleaseThread {
  ~ReleaseThread() {
    ProfileThread* thread = detail::profile_thread;
    detail::profile_thread = nullptr;
    if (!thread) return;
    {
      std::lock_guard<std::mutex> lock(registry().mutex);
      unlink(*thread);
    }
    std::free(thread->entries);
    delete thread;
  }
};

std::mutex& registry_mutex() noexcept { return registry().mutex; }

// Of a forked child's threads, only the one that forked exists.
void keep_forking_thread() noexcept {
  registry().first = nullptr;
  if (detail::profile_thread) link(*detail::profile_thread);
}

}  // namespace

ProfileThread* detail::make_profile_thread() noexcept {
  auto* thread = new (std::nothrow) ProfileThread;
  if (!thread) return nullptr;
  core::hold_over_forks<registry_mutex, keep_forking_thread>();
  thread_local ReleaseThread release;
  (void)&release;
  std::lock_guard<std::mutex> lock(registry().mutex);
  link(*thread);
  profile_thread = thread;
  return thread;
}

bool detail::grow_profile_thread(ProfileThread& thread) noexcept {
  constexpr uint32_t most_entries = 1u << 24;
  if (thread.capacity >= most_entries) return false;
  const uint32_t capacity = thread.capacity ? thread.capacity * 2 : 256;
  void* entries = std::realloc(thread.entries, capacity * sizeof(uintptr_t));
  if (!entries) return false;
  thread.entries = static_cast<uintptr_t*>(entries);
  thread.capacity = capacity;
  return true;
}

namespace {

void close_down_to(ProfileThread& thread, uint32_t size) noexcept {
  for (uint32_t i = thread.size.load(std::memory_order_relaxed); i-- > size;) {
    thread.size.store(i, std::memory_order_relaxed);
    if (thread.entries[i] & profile_sent) annotate::pop_owned(&detail::profile_owner);
  }
}

}  // namespace

bool detail::leave_buried(ProfileThread& thread, uintptr_t entry) noexcept {
  for (uint32_t i = thread.size.load(std::memory_order_relaxed); i-- > 0;) {
    const uintptr_t found = thread.entries[i];
    if ((found & ~(profile_sent | profile_stretch)) != entry) continue;
    close_down_to(thread, i);
    return (found & profile_stretch) != 0;
  }
  return false;
}

void profile_close_all(ProfileThread& thread) noexcept { close_down_to(thread, 0); }

bool profile_any_open() noexcept {
  std::lock_guard<std::mutex> lock(registry().mutex);
  for (ProfileThread* thread = registry().first; thread; thread = thread->next) {
    if (thread->size.load(std::memory_order_relaxed) != 0) return true;
  }
  return false;
}

}  // namespace nvspan::bindings
