// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/file/file_name.hpp"

#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace nvspan::record {
namespace {

std::int32_t first_number(const char* const* names, std::size_t count) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    const char* value = std::getenv(names[i]);
    if (value == nullptr || *value < '0' || *value > '9') continue;
    return static_cast<std::int32_t>(std::strtol(value, nullptr, 10));
  }
  return -1;
}

}  // namespace

RankOfProcess rank_of_process() noexcept {
  constexpr const char* rank[] = {"RANK", "SLURM_PROCID", "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                  "LOCAL_RANK"};
  constexpr const char* local[] = {"LOCAL_RANK", "SLURM_LOCALID", "OMPI_COMM_WORLD_LOCAL_RANK",
                                   "MPI_LOCALRANKID"};
  constexpr const char* world[] = {"WORLD_SIZE", "SLURM_NTASKS", "OMPI_COMM_WORLD_SIZE",
                                   "PMI_SIZE"};
  RankOfProcess found;
  found.rank = first_number(rank, sizeof rank / sizeof *rank);
  found.local_rank = first_number(local, sizeof local / sizeof *local);
  found.world_size = first_number(world, sizeof world / sizeof *world);
  return found;
}

void host_name(char* out, std::size_t size) noexcept {
  std::memset(out, 0, size);
  if (::gethostname(out, size - 1) != 0) std::snprintf(out, size, "unknown");
}

void expand_file_name(std::string_view pattern, core::PoolString& out) {
  out.clear();
  char value[64];
  while (!pattern.empty()) {
    const auto takes = [&](std::string_view word) {
      if (pattern.substr(0, word.size()) != word) return false;
      pattern.remove_prefix(word.size());
      return true;
    };
    if (takes("{host}")) {
      host_name(value, sizeof value);
    } else if (takes("{pid}")) {
      std::snprintf(value, sizeof value, "%ld", static_cast<long>(::getpid()));
    } else if (takes("{rank}")) {
      const std::int32_t rank = rank_of_process().rank;
      std::snprintf(value, sizeof value, "%ld", static_cast<long>(rank < 0 ? 0 : rank));
    } else if (takes("{child=")) {
      long parent = 0;
      for (; !pattern.empty() && pattern.front() != '}'; pattern.remove_prefix(1)) {
        parent = parent * 10 + (pattern.front() - '0');
      }
      if (!pattern.empty()) pattern.remove_prefix(1);
      value[0] = '\0';
      if (parent != ::getppid()) {
        std::snprintf(value, sizeof value, "-%ld", static_cast<long>(::getpid()));
      }
    } else {
      out.push_back(pattern.front());
      pattern.remove_prefix(1);
      continue;
    }
    out.append(value);
  }
}

}  // namespace nvspan::record
