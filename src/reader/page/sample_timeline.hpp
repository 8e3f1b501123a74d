// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Samples as a part of a timeline: of each thread the functions that its stack had, level below
// level, as blocks in bytes.

#pragma once

#include "reader/page/timeline.hpp"
#include "reader/samples/sample_sums.hpp"
#include "reader/samples/shown_stacks.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

struct SampleTrack {
  std::uint32_t process = 0;
  std::uint32_t tid = 0;
};

struct SampleTimeline {
  Timeline timeline;                 // its keys are functions
  std::vector<SampleTrack> threads;  // of its tracks
  std::vector<LinePlace> functions;  // of its keys
};

// Without threads that only waited, unless the options ask for them, and nothing of a selection of
// names. `limits` are those of bytes, levels and tracks.
SampleTimeline sample_timeline(const Recording& recording, const SampleSums& sums,
                               const Selection& selection, const LineOptions& options,
                               const TimelineLimits& limits);

}  // namespace nvspan::reader
