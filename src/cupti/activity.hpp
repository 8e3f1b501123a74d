// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What the GPUs of this process do, from CUPTI. The taker is the same for the life of the
// process; calls from one thread at a time.

#pragma once

#include "cupti/records.hpp"

#include <cstddef>
#include <cstdint>
#include <string>

namespace nvspan::cupti {

// A call that has returned, by the taker's clock.
struct LaunchTimes {
  std::uint64_t begin = 0, end = 0;
  std::uint32_t correlation = 0;  // SeenWork of it has the same
};

// Functions are called on any thread, several at once.
struct ActivityTaker {
  // All times are of this clock. CUPTI is told once: another one, or the same again, spoils the
  // times of records that are under way.
  std::uint64_t (*clock)();
  // On the thread that made the call; `function` is a place in launch_functions().
  void (*launched)(std::size_t function, const LaunchTimes& times);
  // On a thread of CUPTI's, or on the one that calls flush_activity() or end_activity(); `work` and
  // its names live until it returns.
  void (*took)(const SeenWork* work, std::size_t count);
  // So many records did not come.
  void (*missed)(std::size_t count);
};

struct ActivityChoice {
  bool graph_nodes = false;  // each kernel of a graph, which costs 9% of a replay; else the graph
};

// Null: it has begun. Else a sentence about why it cannot, which lives for ever; then nothing was
// changed that another tool could notice.
const char* begin_activity(const ActivityTaker& taker, const ActivityChoice& choice);
bool is_taking_activity() noexcept;
// Has CUPTI hand over what is complete; forced, also what is not: work under way has no end then.
void flush_activity(bool forced);
// Ends it, and lets CUPTI go. It can begin again.
void end_activity();

}  // namespace nvspan::cupti
