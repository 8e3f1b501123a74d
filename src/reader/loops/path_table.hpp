// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Numbers of paths: each a group within another path.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

class PathTable {
 public:
  static constexpr std::uint32_t root = 0xFFFFFFFF;

  PathTable() : slots_(1024, Slot{0, root}) {}

  std::size_t size() const noexcept { return groups_.size(); }
  std::uint32_t group(std::uint32_t path) const { return groups_[path]; }
  std::uint32_t parent(std::uint32_t path) const { return parents_[path]; }

  // The path of the group within another one, or the root. Paths come after their parents.
  std::uint32_t within(std::uint32_t parent, std::uint32_t group) {
    const std::uint64_t key = std::uint64_t{parent} << 32 | group;
    Slot& slot = slots_[place_of(key)];
    if (slot.path != root) return slot.path;
    const auto path = static_cast<std::uint32_t>(groups_.size());
    slot = Slot{key, path};
    groups_.push_back(group);
    parents_.push_back(parent);
    if (2 * groups_.size() > slots_.size()) grow();
    return path;
  }

 private:
  struct Slot {
    std::uint64_t key;
    std::uint32_t path;  // root: it is free
  };

  std::size_t place_of(std::uint64_t key) const {
    const std::size_t mask = slots_.size() - 1;
    std::size_t place = (key * 0x9E3779B97F4A7C15u >> 20) & mask;
    while (slots_[place].path != root && slots_[place].key != key) place = (place + 1) & mask;
    return place;
  }
  void grow() {
    std::vector<Slot> old(2 * slots_.size(), Slot{0, root});
    old.swap(slots_);
    for (const Slot& slot : old) {
      if (slot.path != root) slots_[place_of(slot.key)] = slot;
    }
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> groups_, parents_;
};

}  // namespace nvspan::reader
