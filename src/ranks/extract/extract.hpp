// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The collectives of a recording and the work between them, in one pass.

#pragma once

#include "core/text/text_table.hpp"
#include "ranks/summary/summary.hpp"
#include "ranks/traces/trace.hpp"
#include "reader/file/recording.hpp"

#include <cstdint>
#include <set>
#include <string>
#include <utility>
#include <vector>

namespace nvspan::ranks {

// A step of a thread, ns. Where the range that begins it has one of `step_names`, its time in no
// other range is in none, and its payload is the step's number.
struct LoopStep {
  std::uint32_t thread = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
};

struct ExtractOptions {
  std::vector<std::string> domains;   // whose ranges are collectives
  std::vector<std::string> enqueued;  // of these, those whose ranges show the CPU's request alone
  std::set<std::pair<std::uint32_t, std::int32_t>> step_names;  // domains and names
  std::vector<LoopStep> steps;
};

// One trace for each process that has collectives or steps. `texts` is that of all traces.
std::vector<RankTrace> extract(const reader::Recording& recording, const ExtractOptions& options,
                               core::TextTable& texts);

// Adds the collectives of a recording: rows of the kind `kind_of_collectives`, with the operation
// as name and the communicator as domain, "number:ranks", the number in hexadecimal; either may be
// missing. Times are from when the rank came until it left; where the recording does not show that,
// as where the CPU's request alone is in it, the row counts it as unclosed. Takes a further pass
// over recordings that have such ranges.
void add_collectives(const reader::Recording& recording, const ExtractOptions& options,
                     Summary& to);

}  // namespace nvspan::ranks
