// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The time in which a rank's thread was ready to run and had no core, as it says where it comes to
// collectives: no range is slower for that.

#pragma once

#include "ranks/traces/trace.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::ranks {

struct RunDelay {
  std::int64_t at = 0;
  std::int64_t ns = 0;  // since the thread began
};

// Takes that time off the parts between two of these moments, and makes a part `name` of it. In
// which part the thread had no core nobody knows: it goes to those that take longer than they have
// to at least, as far as they do, and what is left to all of them.
void take_off(RankTrace& trace, const std::vector<RunDelay>& delays, std::int32_t name);

}  // namespace nvspan::ranks
