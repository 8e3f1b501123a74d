// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Leaves out the nodes of a tree that take the least time, so that a page of any recording is
// small.

#pragma once

#include "core/memory/large_pages.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

namespace nvspan::reader {

// Keeps at most `most` nodes, those with the most time. Parents come before their children and take
// no less; each node that is left out is counted in `folded` of the innermost one around it that is
// kept. Returns the new number of each old node; what is left out has one below 0.
template <typename Node, typename TimeOf>
std::vector<std::int64_t> fold_small(core::LargeVector<Node>& nodes, std::size_t most,
                                     TimeOf&& time_of) {
  std::vector<std::int64_t> places(nodes.size(), -1);
  if (nodes.size() <= most) {
    for (std::size_t i = 0; i < nodes.size(); ++i) places[i] = static_cast<std::int64_t>(i);
    return places;
  }
  std::vector<std::int64_t> times;
  times.reserve(nodes.size());
  for (const Node& node : nodes) times.push_back(time_of(node));
  const auto place = times.begin() + static_cast<std::ptrdiff_t>(most);
  std::nth_element(times.begin(), place, times.end(), std::greater<std::int64_t>());
  const std::int64_t least = *place;
  core::LargeVector<Node> kept;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    Node node = nodes[i];
    const bool is_below = node.parent >= 0;
    const std::int64_t around = is_below ? places[static_cast<std::size_t>(node.parent)] : -1;
    // Of one that is left out: the place of the innermost around it that is kept, below -1.
    if (time_of(node) <= least || around < -1) {
      const std::int64_t into = around < -1 ? -2 - around : around;
      if (into >= 0 && into < static_cast<std::int64_t>(kept.size())) {
        ++kept[static_cast<std::size_t>(into)].folded;
      }
      constexpr std::int64_t nowhere = std::int64_t{1} << 40;
      places[i] = -2 - (into < 0 ? nowhere : into);
      continue;
    }
    node.parent = around;
    places[i] = static_cast<std::int64_t>(kept.size());
    kept.push_back(node);
  }
  nodes = std::move(kept);
  return places;
}

}  // namespace nvspan::reader
