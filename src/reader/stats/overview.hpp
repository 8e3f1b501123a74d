// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A timeline in few rectangles: what is too short to be seen is merged with its neighbours.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/scan/selection.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::reader {

struct OverviewBlock {
  std::int64_t start = 0;  // ns
  std::int64_t end = 0;
  std::uint32_t domain = 0;  // of the longest range in it
  std::int32_t name = no_name;
  std::uint64_t count = 1;  // ranges in it
};

struct OverviewLane {
  std::uint32_t process = 0;
  std::int64_t thread = -1;  // -1: the start/end ranges of the process, or those of a device
  std::string device;        // what the lane of a device is called; empty: of the CPU
  std::uint32_t level = 0;
  std::vector<OverviewBlock> blocks;  // in the order of their start
};

struct Overview {
  std::int64_t first = 0;
  std::int64_t last = 0;
  std::int64_t resolution = 0;  // ns; shorter ranges are merged. 0: all are there
  std::uint64_t hidden = 0;     // ranges of levels and threads past the bounds
  std::vector<OverviewLane> lanes;
};

// At most about `budget` blocks, of at most `levels` levels and `threads` threads of a process.
Overview overview(const Recording& recording, const Selection& selection, std::uint64_t budget,
                  std::uint32_t levels, std::uint32_t threads);

}  // namespace nvspan::reader
