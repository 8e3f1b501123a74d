// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a process does when it forks. A forked child has no other thread than the one that forked:
// what a lock guards stays whole in it where the forking thread holds the lock meanwhile.

#include <mutex>

#if !defined(_WIN32)
#include <pthread.h>
#endif

namespace nvspan::core {

// From the first call on, every fork calls these, the first in the thread that forks and the others
// after it in either process. Null: nothing is called.
template <void (*before)() noexcept, void (*in_parent)() noexcept, void (*in_child)() noexcept>
void follow_forks() noexcept {
#if !defined(_WIN32)
  static const int once = pthread_atfork(before, in_parent, in_child);
  (void)once;
#endif
}

namespace detail {

template <std::mutex& (*mutex)() noexcept, void (*in_child)() noexcept, void (*before)() noexcept>
struct HeldOverForks {
  static void take() noexcept {
    mutex().lock();
    if constexpr (before != nullptr) before();
  }
  static void let_go() noexcept { mutex().unlock(); }
  static void let_go_in_child() noexcept {
    in_child();
    mutex().unlock();
  }
};

}  // namespace detail

// From the first call on, the thread that forks holds `mutex()` over every fork, and the child
// calls `in_child` before it lets the lock go. `before`, if any, is called in the forking thread,
// likewise under the lock. The mutex is immortal.
template <std::mutex& (*mutex)() noexcept, void (*in_child)() noexcept,
          void (*before)() noexcept = nullptr>
void hold_over_forks() noexcept {
  using Held = detail::HeldOverForks<mutex, in_child, before>;
  follow_forks<Held::take, Held::let_go, Held::let_go_in_child>();
}

}  // namespace nvspan::core
