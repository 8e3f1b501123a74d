// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which line called the functions in which the time is.

#pragma once

#include "reader/samples/sample_sums.hpp"
#include "reader/samples/shown_stacks.hpp"

#include <vector>

namespace nvspan::reader {

struct FunctionCaller {
  LinePlace function;
  LinePlace caller;  // the line of the call; no_name: none is shown
  double share = 0;  // of the function's self time, below this line
};

// Of each function with self time the two callers that have the most of it, the first one first; a
// function that calls itself is called once. By LineKey::function.
std::vector<FunctionCaller> function_callers(const Recording& recording, const SampleSums& sums,
                                             const LineOptions& options);

}  // namespace nvspan::reader
