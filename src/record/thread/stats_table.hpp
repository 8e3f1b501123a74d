// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/log_histogram.hpp"
#include "record/file/format.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::record {

// A site's statistics in one thread; the cells lie in the file.
struct StatsSlot {
  std::uint32_t site_and_kind;  // 0: free
  StatsCell* cell;
  StatsNested* nested;  // null: none yet
  StatsBlock* blocks[stats_octaves];
};
struct StatsTable {
  StatsSlot* slots;
  std::size_t capacity;  // a power of two
  std::size_t used;

  static std::uint32_t key_of(std::uint32_t site, EntryKind kind) noexcept {
    return (site << 3 | static_cast<std::uint32_t>(kind)) + 1;
  }
  StatsSlot* find(std::uint32_t key) const noexcept {
    if (capacity == 0) return nullptr;
    for (std::size_t i = key * 0x9E3779B1u;; ++i) {
      StatsSlot& slot = slots[i & (capacity - 1)];
      if (slot.site_and_kind == key) return &slot;
      if (slot.site_and_kind == 0) return nullptr;
    }
  }
};

inline unsigned octave_of(std::uint64_t ticks) noexcept {
  const unsigned octave = core::log_octave(ticks);
  return octave < stats_octaves ? octave : stats_octaves - 1;
}

}  // namespace nvspan::record
