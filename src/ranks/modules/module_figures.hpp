// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What each module of a model costs: its forward passes by the calls around them, and the passes
// that belong to those.

#pragma once

#include "ranks/summary/summary.hpp"
#include "reader/file/recording.hpp"
#include "reader/scan/selection.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace nvspan::ranks {

struct ModuleStep {
  std::uint32_t thread = 0;
  std::int64_t start = 0;
  std::int64_t end = 0;
};

struct ModuleOptions {
  // Of each site: whether its ranges are forward passes of modules, or steps: what is around a step
  // calls no module in it.
  std::vector<bool> forward, around;
  // Domains of kernels and copies as a tool saw them. Where there are any, the GPU's time of a call
  // is what was launched in it; only of what a graph's replay ran its device ranges tell.
  std::vector<std::string> work_domains;
  // What is outside of them does not count; none: all does. Where the threads of the steps call
  // modules in them, calls on other threads do not count.
  std::optional<std::vector<ModuleStep>> steps;
};

// Adds rows of the kinds `kind_of_modules` (forward pass on the CPU), one more (backward pass on
// the CPU), two and three more (both on the GPU): ModulePlaces::name() of the model is the domain,
// ModulePlaces::way() the name. Returns the paths of modules whose passes may be another's, see
// find_owners().
std::vector<std::string> add_modules(const reader::Recording& recording,
                                     const reader::Selection& selection,
                                     const ModuleOptions& options, Summary& to);

}  // namespace nvspan::ranks
