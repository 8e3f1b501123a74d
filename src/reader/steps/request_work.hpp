// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The work of GPUs, given to requests, which overlap each other.

#pragma once

#include "reader/loops/loop_steps.hpp"
#include "reader/steps/steps.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::reader {

struct RequestPhases {
  const LoopRanges& ranges;
  const LoopSteps& requests;
  std::vector<std::uint32_t> groups;  // of the ranges directly within a request that are phases
};

// A piece of work is the request's that has a range open on the launching thread at its launch, or
// is the only one open there; on a thread that has no request, the only one of the process.
// Counts what is left as Steps::unshared. Fits and fills the columns about work but `idle`.
void add_request_work(Steps& steps, const Recording& recording, const RequestPhases& phases,
                      const std::string& call_domain, const std::vector<std::string>& work_domains);

}  // namespace nvspan::reader
