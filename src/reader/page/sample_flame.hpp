// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Samples as a flame graph: the ranges that were open, and below them the functions of the stack;
// of each function there the lines that it was at.

#pragma once

#include "core/memory/large_pages.hpp"
#include "reader/samples/sample_sums.hpp"
#include "reader/samples/shown_stacks.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

// A range or a function within what is around it. A function that calls itself is one node.
struct SampleFlameNode {
  std::int64_t parent = -1;  // of SampleFlame::nodes, a smaller number; -1: none
  std::uint32_t root = 0;    // of SampleFlame::roots
  bool is_range = false;
  std::uint32_t name = 0;  // of SampleSums::names() or SampleFlame::places
  SampleTime total;
  SampleTime self;
  std::uint64_t folded = 0;  // nodes below it that were left out, as small ones
};

// The time in which a function was at a line: itself, and with what it called from there.
struct SampleFlameLine {
  std::uint32_t node = 0;  // of SampleFlame::nodes
  std::uint32_t line = 0;
  SampleTime total;
  SampleTime self;
  // The half of the 95 % interval of `total` in the node's, over all threads with this node.
  double margin = 1;
};

// A line with the most self time within a range, or in all: likewise of its share there.
struct SampleFlameHot {
  std::int64_t node = -1;   // the range, in the first thread that has it; -1: all
  std::uint32_t place = 0;  // of SampleFlame::places
  std::uint32_t line = 0;
  double margin = 1;
};

struct SampleFlameRoot {
  std::uint32_t process = 0;
  std::uint32_t tid = 0;
};

struct SampleFlame {
  static constexpr std::size_t most_hottest = 10;  // in a range

  std::vector<SampleFlameRoot> roots;        // threads
  std::vector<LinePlace> places;             // functions
  core::LargeVector<SampleFlameNode> nodes;  // parents before their children
  std::vector<SampleFlameLine> lines;        // by their nodes, those with the most time first
  std::vector<SampleFlameHot> hottest;       // by their nodes
  std::uint64_t folded = 0;                  // nodes that were left out
};

// At most `most_nodes` and `most_lines`, those with the most time.
SampleFlame sample_flame(const Recording& recording, const SampleSums& sums,
                         const LineOptions& options, std::size_t most_nodes,
                         std::size_t most_lines);

}  // namespace nvspan::reader
