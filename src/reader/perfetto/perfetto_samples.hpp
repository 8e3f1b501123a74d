// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Samples in a Perfetto trace: beside each thread's lanes one with the functions of its stack as
// slices, and below the innermost function the line that it was at.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/perfetto/perfetto_stream.hpp"
#include "reader/scan/selection.hpp"

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

namespace nvspan::reader {

// What the trace has already, and the next numbers of it.
struct SampleLanes {
  std::vector<std::uint32_t> pids;                                           // of the processes
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint64_t> threads;  // process, tid: track
  std::map<std::pair<std::uint32_t, std::uint32_t>, std::string> names;      // of them
  std::uint64_t next_track = 1;
  std::uint32_t next_sequence = 1;
};

// `hidden`: by the numbers of their strings, files whose frames are not shown. Threads other than
// the main one whose stack never changed, and that have no track, are left out; so is all of a
// selection of names.
void write_samples(TraceFile& file, const Recording& recording, const Selection& selection,
                   const std::vector<bool>& hidden, SampleLanes& lanes);

}  // namespace nvspan::reader
