// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::record {

// A process's place in a job, as its launcher states it in the environment; -1: not stated.
struct RankOfProcess {
  std::int32_t rank = -1;
  std::int32_t local_rank = -1;
  std::int32_t world_size = -1;
};
RankOfProcess rank_of_process() noexcept;

void host_name(char* out, std::size_t size) noexcept;

// Replaces {host}, {rank} (0 when it is not known), {pid}, and {child=PARENT}: "-" and the process
// id, or nothing in the process that PARENT has started; everything else stays.
void expand_file_name(std::string_view pattern, core::PoolString& out);

}  // namespace nvspan::record
