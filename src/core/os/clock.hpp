// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The clocks that times are read from.

#include <cstdint>

#if defined(_WIN32)
#include <chrono>
#else
#include <time.h>
#endif

#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <intrin.h>
#elif defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

namespace nvspan::core {

// The processor's time stamp counter, or 0 where there is none.
inline uint64_t time_stamp() noexcept {
#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return 0;
#endif
}

#if !defined(_WIN32)
// Nanoseconds of one of the system's clocks.
inline uint64_t clock_ns(clockid_t clock) noexcept {
  timespec time = {};
  ::clock_gettime(clock, &time);
  return static_cast<uint64_t>(time.tv_sec) * 1'000'000'000 + static_cast<uint64_t>(time.tv_nsec);
}
#endif

// Nanoseconds of the clock that is never set back: CLOCK_MONOTONIC where there is one.
inline uint64_t monotonic_ns() noexcept {
#if defined(_WIN32)
  return static_cast<uint64_t>(std::chrono::duration_cast<std::chrono::nanoseconds>(
                                   std::chrono::steady_clock::now().time_since_epoch())
                                   .count());
#else
  return clock_ns(CLOCK_MONOTONIC);
#endif
}

// One moment by the clock that is never set back and by another counter.
struct ClockPair {
  uint64_t monotonic;  // ns
  uint64_t ticks;
};

// Of a few readings the one that was taken in the shortest time: a thread that loses its core
// between the clocks would be milliseconds off.
template <typename Counter>
ClockPair read_together(Counter counter) noexcept {
  ClockPair best = {};
  uint64_t least = UINT64_MAX;
  for (int i = 0; i < 6; ++i) {
    const uint64_t before = counter();
    const uint64_t monotonic = monotonic_ns();
    const uint64_t apart = counter() - before;
    if (apart >= least) continue;
    least = apart;
    best = {monotonic, before + apart / 2};
  }
  return best;
}

}  // namespace nvspan::core
