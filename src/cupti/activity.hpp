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
struct SeenCall {
  // Of its function, below SeenCall::places; no_place: it has none. A function may have several.
  std::uint32_t place = no_place;
  const char* name = nullptr;  // of the function; lives for ever
  std::uint64_t begin = 0, end = 0;
  std::uint32_t correlation = 0;  // SeenWork of it has the same

  static constexpr std::uint32_t places = 2048, no_place = places;
};

// Functions are called on any thread, several at once.
struct ActivityTaker {
  // All times are of this clock. CUPTI is told once, and again only where another tool has had it
  // begin afresh: another one, or the same again, spoils the times of records that are under way.
  std::uint64_t (*clock)();
  // On the thread that made the call.
  void (*called)(const SeenCall& call);
  // On a thread of CUPTI's, or on the one that calls flush_activity() or end_activity(); `work` and
  // its names live until it returns.
  void (*took)(const SeenWork* work, std::size_t count);
  // On such a thread; a GPU may come several times.
  void (*met)(const SeenDevice& device);
  // So many records did not come, since then.
  void (*missed)(std::size_t count, std::uint64_t since);
};

struct ActivityChoice {
  bool graph_nodes = false;  // each kernel of a graph, which slows its replays; else the graph
  bool all_calls = false;    // also those that launch nothing
  bool memory = false;       // allocations and frees, where CUPTI knows of them
};

// Null: it has begun. Else a sentence about why it cannot, which lives for ever; then nothing was
// changed that another tool could notice.
const char* begin_activity(const ActivityTaker& taker, const ActivityChoice& choice);
bool is_taking_activity() noexcept;
// The launches of graphs until end_node_records() are recorded by the node, for whoever launches
// them; several threads may ask at once. False: no work is taken, and nothing is to be ended.
bool begin_node_records();
void end_node_records();
// Has CUPTI hand over what is complete, as it is once a second anyway.
void flush_activity();
// At the process's end: also what is not, which has no end then.
void flush_last_activity();
// Ends it, and lets CUPTI go. It can begin again.
void end_activity();

}  // namespace nvspan::cupti
