// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges that may overlap, put into as few rows as will do: within a row none overlaps another.

#pragma once

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace nvspan::reader {

class Slots {
 public:
  // The row of the next range; ranges are given in the order of their start.
  std::uint32_t place(std::int64_t start, std::int64_t end) {
    std::uint32_t slot = used_;
    if (!ends_.empty() && ends_.top().first <= start) {
      slot = ends_.top().second;
      ends_.pop();
    } else {
      ++used_;
    }
    ends_.emplace(end, slot);
    return slot;
  }
  std::uint32_t used() const noexcept { return used_; }

 private:
  using Ending = std::pair<std::int64_t, std::uint32_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<Ending>> ends_;
  std::uint32_t used_ = 0;
};

}  // namespace nvspan::reader
