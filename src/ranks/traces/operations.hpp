// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Collectives by the names that libraries give their ranges.

#pragma once

#include "ranks/traces/trace.hpp"

#include <string>
#include <string_view>

namespace nvspan::ranks {

// "ncclAllReduce", "MPI_Allreduce", "all_reduce" and "gloo:all_reduce" are "allreduce".
std::string operation_name(std::string_view range);

CollectiveKind operation_kind(std::string_view operation);  // none: not one that ranks wait in

}  // namespace nvspan::ranks
