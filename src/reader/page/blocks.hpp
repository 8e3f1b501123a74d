// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Lanes of a timeline in at most so many blocks: where there are more, what is shorter than the
// resolution is merged with its neighbours in the lane, and the resolution grows as ranges come.

#pragma once

#include "core/memory/path_table.hpp"
#include "reader/chunks/entries.hpp"

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <utility>
#include <vector>

namespace nvspan::reader {

// A range, or several of one lane that follow one another: those are each shorter than the
// resolution, and begin within one stretch of it.
struct PageBlock {
  std::int64_t start = 0;  // ns
  std::int64_t end = 0;
  std::int64_t busy = 0;      // of it in a range
  std::int64_t longest = 0;   // of its ranges
  std::int64_t launched = 0;  // when the CPU asked for it
  EntryPayload payload;       // of one range alone
  std::uint32_t count = 1;
  std::uint32_t key = 0;       // of the longest
  std::uint32_t names = 0;     // of NameSets, where there are several ranges
  std::uint32_t launcher = 0;  // the thread that asked for it, and 1; 0: not known
  std::uint32_t site = 0;      // of the longest
  std::uint32_t process = 0;
  bool unclosed = false;
};

// Which keys the ranges of merged blocks have. Few sets, as loops repeat.
class NameSets {
 public:
  static constexpr std::uint32_t any = 0;  // too many to say
  static constexpr std::size_t most_names = 8;
  static constexpr std::size_t most_sets = 20'000;

  std::uint32_t single(std::uint32_t key);
  std::uint32_t unite(std::uint32_t a, std::uint32_t b);
  const std::vector<std::uint32_t>& operator[](std::uint32_t set) const { return sets_[set]; }
  std::size_t size() const noexcept { return sets_.size(); }

 private:
  std::uint32_t add(std::vector<std::uint32_t> names);

  std::vector<std::vector<std::uint32_t>> sets_{{}};
  std::map<std::vector<std::uint32_t>, std::uint32_t> numbers_;
  static constexpr std::uint32_t not_asked = 0xFFFFFFFF;
  std::vector<std::uint32_t> singles_;  // by key
  core::PathTable united_;
};

class BlockLanes {
 public:
  explicit BlockLanes(std::size_t most_blocks) : most_(most_blocks) {}

  std::size_t add_lane() {
    lanes_.emplace_back();
    return lanes_.size() - 1;
  }
  // Blocks of a lane come in the order of their starts and do not overlap.
  void add(std::size_t lane, const PageBlock& block);
  // Doubles the resolution until there are fewer blocks than now by an eighth.
  void coarsen();

  const std::vector<PageBlock>& operator[](std::size_t lane) const { return lanes_[lane]; }
  const NameSets& names() const noexcept { return names_; }
  std::size_t size() const noexcept { return count_; }
  // ns; ranges shorter than this are merged. 0: none is.
  std::int64_t resolution() const noexcept { return shift_ == 0 ? 0 : std::int64_t{1} << shift_; }

 private:
  static constexpr unsigned first_shift = 6;
  static constexpr unsigned last_shift = 62;

  bool join(PageBlock& before, const PageBlock& block);
  std::uint32_t names_of(const PageBlock& block) {
    return block.count == 1 ? names_.single(block.key) : block.names;
  }

  std::size_t most_;
  std::size_t count_ = 0;
  unsigned shift_ = 0;
  std::deque<std::vector<PageBlock>> lanes_;
  NameSets names_;
};

}  // namespace nvspan::reader
