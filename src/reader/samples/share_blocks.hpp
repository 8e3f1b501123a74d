// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The intervals of shares: times of parts and of what they are parts of, block of time by block.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

// The half of the 95 % interval of a share, in so many blocks of time with sums of the part (`x`)
// and of all (`y`), and by so many samples: the larger of what the blocks and what independent
// samples say.
double share_margin(double x, double y, double xx, double xy, double yy, std::size_t blocks,
                    std::uint64_t samples);

class ShareBlocks {
 public:
  std::uint32_t add_whole() {
    wholes_.emplace_back();
    return static_cast<std::uint32_t>(wholes_.size() - 1);
  }
  std::uint32_t add_part(std::uint32_t whole) {
    parts_.emplace_back();
    parts_.back().whole = whole;
    return static_cast<std::uint32_t>(parts_.size() - 1);
  }

  // In the current block.
  void take_whole(std::uint32_t whole, double ns) {
    take(wholes_[whole].now, whole, ns, in_wholes_);
  }
  void take_part(std::uint32_t part, double ns) { take(parts_[part].now, part, ns, in_parts_); }
  void end_block();

  double part_time(std::uint32_t part) const { return parts_[part].x; }
  // `samples` of the whole.
  double margin(std::uint32_t part, std::uint64_t samples) const;

 private:
  struct Whole {
    double now = 0, y = 0, yy = 0;
    std::size_t blocks = 0;
  };
  struct Part {
    std::uint32_t whole = 0;
    double now = 0, x = 0, xx = 0, xy = 0;
  };

  static void take(double& now, std::uint32_t number, double ns, std::vector<std::uint32_t>& in) {
    if (ns == 0) return;
    if (now == 0) in.push_back(number);
    now += ns;
  }

  std::vector<Whole> wholes_;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> in_wholes_, in_parts_;  // with time in the current block
};

}  // namespace nvspan::reader
