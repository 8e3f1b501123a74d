// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// How much more a rank has to do than the others before a collective.

#pragma once

#include "ranks/cause/job.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::ranks {

constexpr std::int32_t every_name = -1;

using Series = std::vector<std::vector<float>>;  // by rank and step

// By rank and its collectives, in ns: how much longer than the median of the other members a rank
// was in ranges of that name before; 0 for sends and receives, before which ranks do not do the
// same.
std::vector<std::vector<double>> excess_by_collective(const Job& job, std::int32_t name);

// The same of one rank, without what the others' takes.
std::vector<double> excess_of_rank(const Job& job, std::int32_t name, std::uint32_t rank);

// The sum of a step. Work that two groups compare counts once.
Series excess_by_step(const Job& job, std::int32_t name);
std::vector<float> excess_by_step(const Job& job, std::int32_t name, std::uint32_t rank);

}  // namespace nvspan::ranks
