// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The time of steps by path: totals, self times, and a series over steps for the largest parts.

#pragma once

#include "reader/loops/loop_steps.hpp"
#include "reader/loops/owners.hpp"
#include "reader/loops/ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace nvspan::reader {

constexpr std::size_t most_series = 64;   // parts of a step with a series of their own
constexpr std::size_t most_parts = 4096;  // that are told, with those around them

struct LoopPart {
  static constexpr std::uint32_t none = 0xFFFFFFFF;
  std::uint32_t group = 0;
  std::uint32_t parent = none;  // none: directly in the step
  std::uint64_t calls = 0;
  std::int64_t total = 0, self = 0;
  core::LargeVector<std::int64_t> series;  // empty: it has none
};

struct LoopTree {
  std::vector<LoopPart> parts;  // parents before their parts
  core::LargeVector<std::int64_t> steps, self;
  std::int64_t total = 0, unnamed = 0;
  // Between which parts half of the unnamed time is: groups, or `edge` for the step's own.
  static constexpr std::uint32_t edge = 0xFFFFFFFF;
  struct Place {
    bool is_known = false;
    std::uint32_t after = edge, before = edge;
  };
  Place unnamed_place;
  bool is_followed = false;
  double doubtful = 0;
};

// `owners`: where neither ranges have flags nor steps run at once, nobody asks for them.
using FindOwners = std::function<const Owners&()>;
LoopTree build_tree(const LoopRanges& ranges, const LoopSteps& steps, const FindOwners& owners);

}  // namespace nvspan::reader
