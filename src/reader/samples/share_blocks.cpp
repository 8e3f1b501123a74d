// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/samples/share_blocks.hpp"

#include "core/statistics/student_t.hpp"

#include <algorithm>
#include <cmath>

namespace nvspan::reader {

double share_margin(double x, double y, double xx, double xy, double yy, std::size_t blocks,
                    std::uint64_t samples) {
  constexpr double outside = 0.025;  // on each side
  if (y <= 0 || samples == 0) return 1;
  const double share = x / y;
  // Agresti and Coull: also where all samples are of one kind.
  constexpr double normal = 1.96;
  const double count = static_cast<double>(samples) + normal * normal;
  const double center = (share * static_cast<double>(samples) + normal * normal / 2) / count;
  double margin = normal * std::sqrt(center * (1 - center) / count);
  if (blocks >= 2) {
    const auto number = static_cast<double>(blocks);
    const double squares = std::max(0.0, xx - 2 * share * xy + share * share * yy);
    const double deviation = std::sqrt(squares * number / (number - 1)) / y;
    margin = std::max(margin, core::t_quantile(outside, number - 1) * deviation);
  }
  return std::min(margin, 1.0);
}

void ShareBlocks::end_block() {
  for (const std::uint32_t number : in_parts_) {
    Part& part = parts_[number];
    part.x += part.now;
    part.xx += part.now * part.now;
    part.xy += part.now * wholes_[part.whole].now;
    part.now = 0;
  }
  for (const std::uint32_t number : in_wholes_) {
    Whole& whole = wholes_[number];
    whole.y += whole.now;
    whole.yy += whole.now * whole.now;
    whole.now = 0;
    ++whole.blocks;
  }
  in_parts_.clear();
  in_wholes_.clear();
}

double ShareBlocks::margin(std::uint32_t part, std::uint64_t samples) const {
  const Part& of = parts_[part];
  const Whole& whole = wholes_[of.whole];
  return share_margin(of.x, whole.y, of.xx, of.xy, whole.yy, whole.blocks, samples);
}

}  // namespace nvspan::reader
