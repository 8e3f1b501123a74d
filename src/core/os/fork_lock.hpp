// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Keeps what a lock guards whole in forked children, which have no other thread than the one that
// forked.

#include <mutex>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace nvspan::core {

// From the first call on, the thread that forks holds `mutex()` over every fork, and the child
// calls `in_child` before it lets the lock go. `before`, if any, is called in the forking thread,
// likewise under the lock. The mutex is immortal.
template <std::mutex& (*mutex)() noexcept, void (*in_child)() noexcept,
          void (*before)() noexcept = nullptr>
void hold_over_forks() noexcept {
#if !defined(_WIN32)
  static const int once = pthread_atfork(
      [] {
        mutex().lock();
        if constexpr (before != nullptr) before();
      },
      [] { mutex().unlock(); },
      [] {
        in_child();
        mutex().unlock();
      });
  (void)once;
#endif
}

}  // namespace nvspan::core
