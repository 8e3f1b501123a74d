// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/format.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>

namespace nvspan::record {

// The number of bytes of a recording that may be names: the texts and sites of events, and in mode
// `stats` the cells that count them. A ring and statistics would grow with every new name without
// it.
class NameBudget {
 public:
  static constexpr std::uint64_t no_limit = std::numeric_limits<std::uint64_t>::max();
  static constexpr std::uint64_t of_ring = 16'000'000;
  static constexpr std::uint64_t of_stats = 32'000'000;

  // `bytes` 0: the mode's default.
  void restart(RecordMode mode, std::uint64_t bytes) noexcept {
    limit_ = bytes != 0                  ? bytes
             : mode == RecordMode::ring  ? of_ring
             : mode == RecordMode::stats ? of_stats
                                         : no_limit;
    spent_ = 0;
  }

  // False: it would exceed the budget, and nothing is spent.
  bool take(std::size_t bytes) noexcept {
    if (bytes > limit_ || spent_ > limit_ - bytes) return false;
    spent_ += bytes;
    return true;
  }
  // For definitions that cannot be left out.
  void spend(std::size_t bytes) noexcept { spent_ += bytes; }

 private:
  std::uint64_t limit_ = no_limit;
  std::uint64_t spent_ = 0;
};

}  // namespace nvspan::record
