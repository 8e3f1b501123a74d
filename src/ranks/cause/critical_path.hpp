// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The chain of work and collectives that the job's end hangs on, from rank to rank.

#pragma once

#include "ranks/cause/blame.hpp"

#include <cstdint>
#include <map>
#include <utility>

namespace nvspan::ranks {

struct CriticalPath {
  std::map<std::pair<std::uint32_t, std::int32_t>, std::int64_t> work;  // by rank and name, in ns
  std::int64_t collectives = 0;  // ns between the last arrival and the end
  std::int64_t duration = 0;
};

CriticalPath critical_path(const Job& job, const Blame& blame);

}  // namespace nvspan::ranks
