// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which ranges were open around which, with the times of each path. Memory goes with the paths.

#pragma once

#include "reader/stats/aggregate.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace nvspan::reader {

struct CallNode {
  std::int64_t parent = -1;  // of the same vector, before its children
  std::uint32_t domain = 0;
  std::int32_t name = no_name;
  RangeKind kind = RangeKind::push_pop;
  std::uint64_t calls = 0;  // closed ones; the times are those of them
  std::uint64_t unclosed = 0;
  std::int64_t total = 0;  // ns
  std::int64_t self = 0;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  std::int64_t longest = 0;
};

// Of all threads together.
std::vector<CallNode> call_tree(const Recording& recording, const Selection& selection);

// The durations of one row of a table, all of them.
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
