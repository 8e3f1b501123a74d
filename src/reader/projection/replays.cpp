// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/projection/replays.hpp"

namespace nvspan::reader {

std::uint32_t Replays::number_of(const LaunchedOp& op, const RangePlace& launcher,
                                 std::uint32_t place) {
  const Key key{op.launch, op.process, op.capturer, place};
  const auto [found, is_new] = numbers_.try_emplace(key, static_cast<std::uint32_t>(all_.size()));
  if (is_new) {
    Range& range = all_.emplace_back();
    range.captured = RangePlace{op.capturer, place};
    range.launcher = launcher;
    range.launched = op.launched;
    range.work.calls = 1;
  }
  return found->second;
}

bool Replays::take(const LaunchedOp& op, const RangePlace& launcher) {
  std::uint32_t place = captured_in(ranges_, op);
  std::uint32_t inner = none;
  while (place != CpuRanges::no_place) {
    const std::uint32_t number = number_of(op, launcher, place);
    all_[number].work.add(op);
    if (inner == none) {
      all_[number].work.exclusive += op.end - op.start;
    } else {
      all_[inner].outer = number;
    }
    inner = number;
    place = captured_around(ranges_, op, place);
  }
  return inner != none;
}

void Replays::nest() {
  for (Range& range : all_) {
    if (range.outer != none) ++all_[range.outer].children;
    for (std::uint32_t at = range.outer; at != none; at = all_[at].outer) ++range.level;
  }
}

}  // namespace nvspan::reader
