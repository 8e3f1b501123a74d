// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Blocks as bytes. Numbers take seven bits of each byte, the least first; the eighth says that more
// follow. A track is the number of its levels, each level, its marks as one more level, and its
// payloads; a level the number of its blocks, and each of these:
//
//   start          from the one before, the first from the timeline's
//   length         ns
//   key, flags     4 * key + 2 * unclosed + many
//   if many        ranges - 1, time in a range, the longest one's, set of names
//   of a device    launching track + 1, and if that is known start - launch, as 2n or -2n - 1
//
// Payloads are how many there are, and of each its level, its block and its text; blocks from the
// one before in the level.

#pragma once

#include "reader/page/blocks.hpp"
#include "reader/page/timeline.hpp"

#include <cstddef>
#include <vector>

namespace nvspan::reader {

// Fills the bytes of tracks, and `names` and the keys that they use, whose numbers are new ones.
class TimelineBytes {
 public:
  TimelineBytes(const Recording& recording, Timeline& timeline, const BlockLanes& lanes,
                const std::vector<PageKey>& keys)
      : recording_(recording), timeline_(timeline), lanes_(lanes), keys_(keys) {}

  // How many bytes there are, with those of names.
  std::size_t write();
  // Adds the payloads of the longest ranges, in so many bytes.
  void write_payloads(std::size_t most_bytes);
  // The numbers of the keys, by their new ones.
  const std::vector<std::uint32_t>& used() const noexcept { return used_; }

 private:
  void write_level(const PageTrack& track, const std::vector<PageBlock>& blocks, std::string& out);
  std::uint32_t number_of(std::uint32_t key);
  std::uint32_t set_of(std::uint32_t names);

  const Recording& recording_;
  Timeline& timeline_;
  const BlockLanes& lanes_;
  const std::vector<PageKey>& keys_;
  std::vector<std::uint32_t> numbers_;  // by key, and 1
  std::vector<std::uint32_t> used_;
  std::vector<std::uint32_t> sets_;  // by set of names, and 1
  std::vector<std::uint32_t> track_of_thread_;
  std::size_t name_bytes_ = 0;
};

}  // namespace nvspan::reader
