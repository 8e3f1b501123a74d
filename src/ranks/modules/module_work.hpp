// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The GPU's time of modules, from the kernels and copies that were launched in their ranges.

#pragma once

#include "ranks/modules/module_places.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::ranks {

// A call of a module on a thread, or its backward pass there.
struct ModuleSpan {
  std::uint32_t thread = 0;
  std::int64_t start = 0, end = 0;
  ModulePlace place = no_place;
  bool backward = false;
  bool counts = true;  // else it is there for replays alone

  std::int64_t first = 0, until = 0;  // of its work so far; until 0: there is none
  std::int64_t busy = 0;              // time with work under way
  std::int32_t around = -1;           // of those open at its start the one that began last
};

struct ModuleKernel {
  std::uint32_t thread = 0;  // that launched it
  std::int64_t launched = 0;
  std::int64_t start = 0, end = 0;
};

// Of a kernel that a replay of a graph launched: where the graph got it.
struct CapturedKernel {
  std::size_t kernel = 0;    // its place among the kernels
  std::uint64_t launch = 0;  // the number of the replay's call
  std::uint32_t thread = 0;
  std::int64_t time = 0, began = 0;  // of the launch, and of the capture that took it
};

// Gives each kernel to the spans that are open on its thread when it is launched; of spans of one
// place that nest to the outermost. Sorts both.
void share_work(std::vector<ModuleSpan>& spans, std::vector<ModuleKernel>& kernels);

// The spans that lie within captures, once more for each replay, with its work; but none of a place
// that the replay itself is in. Sorts `spans` and `captured`.
std::vector<ModuleSpan> replay_spans(std::vector<ModuleSpan>& spans,
                                     const std::vector<ModuleKernel>& kernels,
                                     std::vector<CapturedKernel>& captured);

}  // namespace nvspan::ranks
