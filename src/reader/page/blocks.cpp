// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/page/blocks.hpp"

#include <algorithm>
#include <iterator>

namespace nvspan::reader {

std::uint32_t NameSets::add(std::vector<std::uint32_t> names) {
  if (names.size() > most_names) return any;
  const auto found = numbers_.find(names);
  if (found != numbers_.end()) return found->second;
  if (sets_.size() >= most_sets) return any;
  const auto number = static_cast<std::uint32_t>(sets_.size());
  sets_.push_back(names);
  numbers_.emplace(std::move(names), number);
  return number;
}

std::uint32_t NameSets::single(std::uint32_t key) {
  if (key >= singles_.size()) singles_.resize(key + std::size_t{1}, not_asked);
  if (singles_[key] == not_asked) singles_[key] = add({key});
  return singles_[key];
}

std::uint32_t NameSets::unite(std::uint32_t a, std::uint32_t b) {
  if (a == b || a == any || b == any) return a == b ? a : any;
  std::uint64_t& known = united_[core::PathKey{std::min(a, b), std::max(a, b)}];
  if (known != core::PathTable::none) return static_cast<std::uint32_t>(known);
  std::vector<std::uint32_t> both;
  std::set_union(sets_[a].begin(), sets_[a].end(), sets_[b].begin(), sets_[b].end(),
                 std::back_inserter(both));
  const std::uint32_t number = add(std::move(both));
  known = number;
  return number;
}

bool BlockLanes::join(PageBlock& before, const PageBlock& block) {
  const std::int64_t least = std::int64_t{1} << shift_;
  if (before.longest >= least || block.longest >= least ||
      before.start >> shift_ != block.start >> shift_ || before.unclosed || block.unclosed) {
    return false;
  }
  before.names = names_.unite(names_of(before), names_of(block));
  before.end = std::max(before.end, block.end);
  before.busy += block.busy;
  before.count += block.count;
  before.payload = EntryPayload{};
  if (block.longest > before.longest) {
    before.longest = block.longest;
    before.key = block.key;
    before.site = block.site;
    before.launched = block.launched;
    before.launcher = block.launcher;
  }
  return true;
}

void BlockLanes::add(std::size_t lane, const PageBlock& block) {
  std::vector<PageBlock>& blocks = lanes_[lane];
  if (shift_ != 0 && !blocks.empty() && join(blocks.back(), block)) return;
  blocks.push_back(block);
  if (++count_ > most_) coarsen();
}

void BlockLanes::coarsen() {
  const std::size_t wanted = count_ - count_ / 8;
  while (count_ > wanted && shift_ < last_shift) {
    shift_ = shift_ == 0 ? first_shift : shift_ + 1;
    count_ = 0;
    for (std::vector<PageBlock>& blocks : lanes_) {
      std::size_t kept = 0;
      for (const PageBlock& block : blocks) {
        if (kept != 0 && join(blocks[kept - 1], block)) continue;
        blocks[kept++] = block;
      }
      blocks.resize(kept);
      count_ += kept;
    }
  }
}

}  // namespace nvspan::reader
