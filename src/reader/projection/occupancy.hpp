// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The theoretical occupancy of a kernel: how much of a multiprocessor its blocks fill, and what
// allows no more of them. Clusters of blocks are not looked at.

#pragma once

#include "record/file/work_format.hpp"

#include <cstdint>
#include <optional>
#include <string>

namespace nvspan::reader {

struct Occupancy {
  std::uint64_t blocks = 0;  // that a multiprocessor runs at once
  double share = 0;          // of the warps that it can run
  // "warps", "blocks", "registers", "shared memory", or several of them, with "and" between.
  std::string limiter;
};

// None: nothing is known of how GPUs of this capability allocate, limits are missing, or not one
// block would fit, though it ran.
std::optional<Occupancy> find_occupancy(const record::GpuLimitsDefinition& gpu,
                                        const record::LaunchShape& shape);

}  // namespace nvspan::reader
