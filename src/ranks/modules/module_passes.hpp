// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Whose a pass is that is not nested in its caller: a backward pass, a forward pass that
// checkpointing repeats, work of the GPU. They name a module; where several modules have that name,
// the number of the forward call that they carry tells, the call that launched them, the pass
// around them, or which of the modules has a call whose backward pass is still to come.

#pragma once

#include "ranks/modules/module_places.hpp"

#include <cstdint>
#include <limits>
#include <set>
#include <vector>

namespace nvspan::ranks {

constexpr std::uint64_t no_number = std::numeric_limits<std::uint64_t>::max();

// A forward pass as it begins. `name` is that of the module's path, by any number.
struct ModuleCall {
  std::int32_t name = 0;
  std::uint32_t thread = 0;
  ModulePlace place = no_place;
  std::int64_t start = 0;
  std::uint64_t number = no_number;  // autograd's, as it began
};

struct ModulePass {
  std::int32_t name = 0;
  std::uint32_t thread = 0;  // that began or launched it
  std::uint32_t lane = 0;    // passes of one lane nest: a thread, a stream
  std::int64_t start = 0;
  std::int64_t end = 0;
  std::int64_t asked = 0;            // when the CPU asked for it
  std::uint64_t number = no_number;  // that of the forward pass it belongs to
  bool on_gpu = false;
  bool backward = false;  // of that of the GPU: not launched within the forward pass
  bool repeated = false;
  bool closed = false;

  ModulePlace place = no_place;
  bool nested = false;  // within another one of its place
};

// Sorts the passes by their start, and says of each, if its module is called at all, where. Returns
// the names of modules for which that is not known: those passes have the first place that is
// possible.
std::set<std::int32_t> find_owners(const ModulePlaces& places, std::vector<ModuleCall>& calls,
                                   std::vector<ModulePass>& passes);

}  // namespace nvspan::ranks
