// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Paths of groups, each a group within another path.

#pragma once

#include "core/memory/path_table.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

class Paths {
 public:
  static constexpr std::uint32_t root = 0xFFFFFFFF;

  std::size_t size() const noexcept { return groups_.size(); }
  std::uint32_t group(std::uint32_t path) const { return groups_[path]; }
  std::uint32_t parent(std::uint32_t path) const { return parents_[path]; }

  // The path of the group within another one, or the root. Paths come after their parents.
  std::uint32_t within(std::uint32_t parent, std::uint32_t group) {
    std::uint64_t& number = numbers_[core::PathKey{parent, group}];
    if (number == core::PathTable::none) {
      number = groups_.size();
      groups_.push_back(group);
      parents_.push_back(parent);
    }
    return static_cast<std::uint32_t>(number);
  }

 private:
  core::PathTable numbers_;
  std::vector<std::uint32_t> groups_, parents_;
};

}  // namespace nvspan::reader
