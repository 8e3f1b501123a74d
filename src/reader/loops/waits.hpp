// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a thread waits for, and what the others did meanwhile.

#pragma once

#include "reader/loops/loop_steps.hpp"
#include "reader/loops/owners.hpp"
#include "reader/loops/ranges.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::reader {

constexpr double least_wait = 0.10;       // of the time, for a wait to be told
constexpr double least_meanwhile = 0.15;  // of a wait, for another thread to be told

struct LoopMeanwhile {
  std::uint32_t group = 0;
  double share = 0;
  bool ends_it = false;
};

struct LoopWait {
  static constexpr std::int64_t of_none = -1;      // none was in a range for long enough
  static constexpr std::int64_t of_requests = -2;  // other requests, on any thread
  std::uint32_t group = 0;
  std::uint64_t calls = 0;
  std::int64_t total = 0;
  double share = 0;
  std::int64_t thread = of_none;
  std::int64_t waiter = -1;  // the thread that waits; -1: maybe several
  std::vector<LoopMeanwhile> meanwhile;
  bool has_others = false;
  core::LargeVector<std::int64_t> starts, ends;  // of each
};

// Of a thread while the steps run; without steps, in all of its time.
std::vector<LoopWait> find_waits(const LoopRanges& ranges, const LoopSteps& steps,
                                 std::uint32_t thread);
// Of a thread that waits between its steps, whatever for: their total, and what another thread does
// meanwhile. Empty: pauses are short, or no other thread has ranges.
LoopWait find_pauses(const LoopRanges& ranges, const LoopSteps& steps, std::uint32_t thread);
// Of some requests, on all of their threads: shares are of their time. Another request counts where
// waits end as what it does ends.
std::vector<LoopWait> find_waits_of(const LoopRanges& ranges, const LoopSteps& requests,
                                    const Owners& owners, const std::vector<std::uint32_t>& which);

}  // namespace nvspan::reader
