// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The collectives of a recording and the work between them, in one pass.

#pragma once

#include "core/text/text_table.hpp"
#include "ranks/traces/trace.hpp"
#include "reader/file/recording.hpp"

#include <string>
#include <vector>

namespace nvspan::ranks {

struct ExtractOptions {
  std::vector<std::string> domains;   // whose ranges are collectives
  std::vector<std::string> enqueued;  // of these, those whose ranges show the CPU's request alone
  std::string step;                   // the name of the ranges that are steps
};

// One trace for each process that has collectives or steps. `texts` is that of all traces.
std::vector<RankTrace> extract(const reader::Recording& recording, const ExtractOptions& options,
                               core::TextTable& texts);

}  // namespace nvspan::ranks
