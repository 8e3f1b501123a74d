// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges that hold an event loop: a coroutine works without giving the loop back, so that nothing
// else of the thread begins or ends, and the other requests that are open there wait.

#pragma once

#include "reader/loops/loop_steps.hpp"
#include "reader/loops/owners.hpp"
#include "reader/loops/ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

// The ranges of a group that hold it.
struct LoopHold {
  std::uint32_t group = 0;
  std::uint32_t thread = 0;  // of the first
  std::uint32_t threads = 0;
  std::uint64_t calls = 0;
  std::int64_t total = 0, longest = 0;
  std::int64_t waiting = 0;  // of the others that are open, the sum
  bool is_nested = false;    // pushed and popped, so that no coroutine can have been switched
};

// The ranges of a group within requests.
struct LoopHeld {
  std::uint32_t group = 0;
  std::int64_t total = 0, held = 0;  // held: while another request holds the loop
  std::uint64_t held_calls = 0, free_calls = 0;
  std::int64_t held_median = 0, free_median = 0;
};

struct LoopHolds {
  std::vector<LoopHold> holds;  // that others wait longest for first
  std::int64_t held = 0;        // of all requests
  std::vector<LoopHeld> parts;  // that are held for some time
};

// The same for each request alone, and for its ranges of the groups that are asked for.
struct HeldRequests {
  struct Group {
    std::uint32_t group = 0;
    core::LargeVector<std::int64_t> total, held;  // of each request
  };
  core::LargeVector<std::int64_t> held;  // of each request
  std::vector<Group> groups;
};

// Of requests that take turns in a thread. Fills `single` if there is one.
LoopHolds find_holds(const LoopRanges& ranges, const LoopSteps& requests, const Owners& owners,
                     HeldRequests* single = nullptr);

}  // namespace nvspan::reader
