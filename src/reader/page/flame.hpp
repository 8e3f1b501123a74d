// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which ranges were open around which, of each thread and each stream by itself, with the times of
// each path: what a flame graph draws. A range within another one of its name is counted in that
// one's node.

#pragma once

#include "core/memory/large_pages.hpp"
#include "reader/file/recording.hpp"
#include "reader/scan/selection.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::reader {

// Ranges of a process that begin within it belong to its group: those of a step, or of several.
struct FlameWindow {
  std::uint32_t process = 0;
  std::int64_t start = 0;  // ns
  std::int64_t end = 0;
  std::uint32_t group = 0;
};

struct FlameNode {
  std::int64_t parent = -1;  // of Flame::nodes, a smaller number; -1: none
  std::uint32_t root = 0;    // of Flame::roots
  std::uint32_t site = 0;    // of its first range
  RangeKind kind = RangeKind::push_pop;
  std::uint64_t calls = 0;
  std::uint64_t unclosed = 0;
  std::int64_t total = 0;  // ns; of ranges that did not end, until the last known moment
  std::int64_t self = 0;
  std::uint64_t folded = 0;  // nodes below it that were left out, as small ones
};

struct FlameRoot {
  std::uint32_t group = 0;  // of windows
  std::uint32_t process = 0;
  std::int64_t thread = -1;
  bool is_spans = false;  // start/end ranges of the process
  std::string device;     // what the stream is called
};

struct Flame {
  std::vector<FlameRoot> roots;
  core::LargeVector<FlameNode> nodes;  // parents before their children
  std::uint64_t folded = 0;            // nodes that were left out
};

// Without windows everything is in group 0. At most `most_nodes`, those with the most time.
Flame make_flame(const Recording& recording, const Selection& selection,
                 std::vector<FlameWindow> windows, std::size_t most_nodes);

}  // namespace nvspan::reader
