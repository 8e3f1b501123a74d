// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/file/ticks.hpp"

#include "core/os/clock.hpp"

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

#include <cstring>
#include <initializer_list>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace nvspan::record {

bool ticks_are_tsc = false;

namespace {

// A kernel that found the counter unstable uses another clock.
bool kernel_trusts_counter() noexcept {
  const int fd = ::open("/sys/devices/system/clocksource/clocksource0/current_clocksource",
                        O_RDONLY | O_CLOEXEC);
  if (fd < 0) return true;
  char name[32] = {};
  const ssize_t count = ::read(fd, name, sizeof name - 1);
  ::close(fd);
  if (count <= 0) return true;
  for (const char* slow : {"hpet", "acpi_pm", "jiffies", "refined-jiffies"}) {
    if (std::strncmp(name, slow, std::strlen(slow)) == 0) return false;
  }
  return true;
}

}  // namespace

std::uint64_t system_ticks() noexcept { return core::monotonic_ns(); }

void choose_clock() noexcept {
#if defined(__x86_64__)
  constexpr unsigned invariant_leaf = 0x80000007;
  constexpr unsigned invariant_bit = 1u << 8;
  unsigned a = 0, b = 0, c = 0, d = 0;
  const bool invariant = __get_cpuid(invariant_leaf, &a, &b, &c, &d) != 0 && (d & invariant_bit);
  ticks_are_tsc = invariant && kernel_trusts_counter();
#elif defined(__aarch64__)
  ticks_are_tsc = true;
#endif
}

ClockSample sample_clocks() noexcept {
  const core::ClockPair pair = core::read_together([] { return ticks_now(); });
  ClockSample best = {};
  best.monotonic = pair.monotonic;
  best.ticks = ticks_are_tsc ? pair.ticks : pair.monotonic;
  // Once is enough unless the thread was interrupted between the clocks.
  constexpr std::uint64_t undisturbed = 1000;  // ns
  std::uint64_t least = static_cast<std::uint64_t>(-1);
  for (int i = 0; i < 6 && least > undisturbed; ++i) {
    const std::uint64_t before = core::monotonic_ns();
    const std::uint64_t realtime = core::clock_ns(CLOCK_REALTIME);
    const std::uint64_t apart = core::monotonic_ns() - before;
    if (apart >= least) continue;
    least = apart;
    best.realtime = realtime - (before + apart / 2) + best.monotonic;
  }
  return best;
}

double estimate_frequency(const ClockSample& first) noexcept {
  if (!ticks_are_tsc) return 1e9;
#if defined(__aarch64__)
  std::uint64_t frequency;
  asm volatile("mrs %0, cntfrq_el0" : "=r"(frequency));
  return static_cast<double>(frequency);
#else
  constexpr std::uint64_t apart = 200 * 1000;
  while (core::monotonic_ns() - first.monotonic < apart) {
  }
  const ClockSample second = sample_clocks();
  return static_cast<double>(second.ticks - first.ticks) * 1e9 /
         static_cast<double>(second.monotonic - first.monotonic);
#endif
}

}  // namespace nvspan::record
