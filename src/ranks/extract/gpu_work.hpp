// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What the GPU does at each moment, by the program's ranges of it.

#pragma once

#include "ranks/traces/segments.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::ranks {

// A range of the GPU that is no collective.
struct GpuStretch {
  std::int64_t start;
  std::int64_t end;
  std::int32_t text;
};

// Sorts `spans`.
ThreadWork work_of(std::vector<GpuStretch>& spans);

}  // namespace nvspan::ranks
