// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The ranges of a process's collectives as they were read, and the collectives that they make.

#pragma once

#include "ranks/traces/trace.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::ranks {

struct NotedCollective {
  Collective collective;
  bool is_wait = false;
  std::int64_t call_end = no_time;  // of one that the CPU calls
  std::int64_t launched = no_time;  // of one of the GPU: when the CPU called it
};

// Whether the GPU's own ranges are there: those of the CPU's calls are none then.
bool by_device(const std::vector<NotedCollective>& noted);

// Puts what the CPU's calls tell to the collectives of the GPU that they launched: the size and the
// root.
void tell_calls(std::vector<NotedCollective>& noted);

// By their begin; waits for asynchronous collectives are put to what they wait for.
std::vector<Collective> joined(const std::vector<NotedCollective>& noted);

}  // namespace nvspan::ranks
