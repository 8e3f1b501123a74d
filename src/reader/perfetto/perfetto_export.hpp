// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A recording as a Perfetto trace: a lane for each thread and domain, and for its samples, one
// group of lanes for the start/end ranges of each domain of a process, a track for each counter.
// Memory goes with the number of names, of stacks and of start/end ranges.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/scan/selection.hpp"

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace nvspan::reader {

// `hidden`: by the numbers of their strings, files whose frames are not shown in samples.
// `progress` is called now and then with what is done, between 0 and 1. Returns the file's bytes.
// Throws std::system_error when the file cannot be written.
std::uint64_t export_perfetto(const Recording& recording, const Selection& selection,
                              const std::vector<bool>& hidden, const std::string& path,
                              const std::function<void(double)>& progress);

}  // namespace nvspan::reader
