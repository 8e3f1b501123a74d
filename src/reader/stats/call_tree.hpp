// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which ranges were open around which, with the times of each path. Memory goes with the paths.

#pragma once

#include "reader/stats/aggregate.hpp"

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <unordered_set>
#include <vector>

namespace nvspan::reader {

// A path of names. A range within another one of its domain and name is counted in the node of
// that one, so that no name is twice in a path.
struct CallNode {
  std::int64_t index = 0;    // its place
  std::int64_t parent = -1;  // a smaller place; -1: none
  std::uint32_t domain = 0;
  std::int32_t name = no_name;
  RangeKind kind = RangeKind::push_pop;
  bool backward = false;       // as in AggregateRow
  std::int64_t lane = -1;      // of CallTree::lanes, where it is a device's
  std::uint64_t calls = 0;     // closed ones; the times are those of them
  std::uint64_t unclosed = 0;  // as in AggregateRow
  bool is_resumable = false;   // as in AggregateRow, with the next three
  std::uint64_t resumptions = 0;
  std::int64_t awaited = 0;
  std::int64_t unknown_awaits = 0;
  double sum = 0;            // ns
  std::int64_t covered = 0;  // not of push/pop ranges, whose total it is: as in AggregateRow
  std::int64_t self = 0;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  std::int64_t longest = 0;
  std::uint32_t site = 0;  // of its first range
  std::uint32_t last_thread = static_cast<std::uint32_t>(-1);
  std::unordered_set<std::uint32_t> threads;  // that it ran in; not of devices
  Outermost outermost;
  std::unique_ptr<core::LogHistogram> durations;  // of the first CallTree::most_distributions

  double total() const noexcept {
    return sum - outermost.within().time + outermost.still_open().time;
  }
};

struct CallTree {
  static constexpr std::size_t most_distributions = 2000;

  std::vector<std::unique_ptr<CallNode>>
      nodes;                               // in the order in which they appear, thread by thread
  std::vector<std::string> lanes;          // what the streams of devices are called
  std::vector<std::int64_t> lane_covered;  // of each: when any of its ranges was open
};

// Of all threads together, and of streams of one name. With `ancestors` the ranges around those
// that the selection takes by name are there as well.
CallTree call_tree(const Recording& recording, const Selection& selection, bool ancestors = false);

// The durations of one row of a table, all of them. Ranges of devices are start/end ranges, as
// tools have them that know no devices.
struct Durations {
  std::uint32_t domain = 0;
  std::int32_t name = no_name;
  RangeKind kind = RangeKind::push_pop;
  std::vector<std::int64_t> ns;  // sorted
};
// Ranges that did not end last until `unclosed_end`; none: they are left out.
std::vector<Durations> all_durations(const Recording& recording, const Selection& selection,
                                     std::optional<std::int64_t> unclosed_end = std::nullopt);

}  // namespace nvspan::reader
