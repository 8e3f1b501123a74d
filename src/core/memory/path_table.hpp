// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Numbers of paths. A recording may have as many paths as ranges, so the table is one block of
// memory: a node for each path takes three times as long to find and to free.

#pragma once

#include "core/memory/large_pages.hpp"

#include <cstddef>
#include <cstdint>
#include <utility>

namespace nvspan::core {

// A name within what is around it.
struct PathKey {
  std::uint64_t from;  // the path around it, by any number
  std::uint64_t name;  // a name, by any number
  friend bool operator==(const PathKey& a, const PathKey& b) {
    return a.from == b.from && a.name == b.name;
  }
};
struct PathHash {
  std::size_t operator()(const PathKey& key) const noexcept {
    std::uint64_t hash = (key.from + 1) * 0x9E3779B97F4A7C15u;
    hash ^= key.name * 0xC2B2AE3D27D4EB4Fu;
    return static_cast<std::size_t>(hash ^ hash >> 29 ^ hash >> 47);
  }
};

class PathTable {
 public:
  static constexpr std::uint64_t none = ~std::uint64_t{0};

  // The number of a path, which the caller gives to a new one: those have `none`. Valid until the
  // next call.
  std::uint64_t& operator[](const PathKey& key) {
    if (5 * (used_ + 1) > 3 * slots_.size()) grow();
    Slot& slot = slots_[place_of(slots_, key)];
    if (slot.number == none) {
      slot.key = key;
      ++used_;
    }
    return slot.number;
  }

 private:
  struct Slot {
    PathKey key{0, 0};
    std::uint64_t number = none;
  };
  using Slots = LargeVector<Slot>;

  static std::size_t place_of(const Slots& slots, const PathKey& key) {
    const std::size_t last = slots.size() - 1;
    std::size_t place = PathHash()(key) & last;
    while (slots[place].number != none && !(slots[place].key == key)) place = (place + 1) & last;
    return place;
  }
  void grow() {
    Slots larger(slots_.empty() ? 64 : 2 * slots_.size());
    for (const Slot& slot : slots_) {
      if (slot.number != none) larger[place_of(larger, slot.key)] = slot;
    }
    slots_ = std::move(larger);
  }

  Slots slots_;  // a power of two
  std::size_t used_ = 0;
};

}  // namespace nvspan::core
