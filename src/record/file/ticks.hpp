// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The clock of a recording: the processor's counter where its frequency is constant, else
// CLOCK_MONOTONIC.

#pragma once

#include "record/file/format.hpp"

#include <cstdint>

#if defined(__x86_64__)
#include <x86intrin.h>
#endif

namespace nvspan::record {

extern bool ticks_are_tsc;  // set once, before the first recording begins

std::uint64_t system_ticks() noexcept;  // CLOCK_MONOTONIC; out of line to keep ticks_now() short
void choose_clock() noexcept;
ClockSample sample_clocks() noexcept;

// Ticks per second, from two samples some 200 us apart when nothing else says it.
double estimate_frequency(const ClockSample& first) noexcept;

// Ticks per second between two samples of one recording. The recorder and its reader must agree,
// or a stamp that one of them extrapolates moves by the difference of their frequencies.
inline double frequency_between(const ClockSample& first, const ClockSample& later,
                                double estimated) noexcept {
  constexpr std::uint64_t better_than_the_estimate = 1000 * 1000;  // ns
  if (later.monotonic <= first.monotonic + better_than_the_estimate || later.ticks <= first.ticks) {
    return estimated;
  }
  return static_cast<double>(later.ticks - first.ticks) * 1e9 /
         static_cast<double>(later.monotonic - first.monotonic);
}

inline std::uint64_t processor_ticks() noexcept {
#if defined(__x86_64__)
  return __rdtsc();
#elif defined(__aarch64__)
  std::uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return system_ticks();
#endif
}

inline std::uint64_t ticks_now() noexcept {
  if (__builtin_expect(ticks_are_tsc, 1)) return processor_ticks();
  return system_ticks();
}

// By the clock of a recording, which another process may have chosen.
inline std::uint64_t ticks_now(const FileHeader& header) noexcept {
  const bool tsc = header.clock == static_cast<std::uint32_t>(ClockType::tsc);
  return tsc ? processor_ticks() : system_ticks();
}

}  // namespace nvspan::record
