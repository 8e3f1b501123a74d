// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/live/live_watch.hpp"

#include <algorithm>

namespace nvspan::reader {
namespace {

constexpr unsigned looks_between_checks = 64;  // of the file's length: a system call

std::uint32_t within(std::vector<LiveNode>& nodes, std::uint32_t parent, std::uint64_t entry) {
  entry &= ~record::live_stamp_mask;
  std::uint32_t at = nodes[parent].child;
  while (at != 0 && nodes[at].entry != entry) at = nodes[at].next;
  if (at == 0) {
    at = static_cast<std::uint32_t>(nodes.size());
    nodes.push_back(LiveNode{entry, parent, 0, nodes[parent].child, 0, 0});
    nodes[parent].child = at;
  }
  return at;
}

}  // namespace

bool LiveWatch::look() {
  if (looks_++ % looks_between_checks == 0 && !file_.check_length()) return false;
  if (!file_.find_blocks(list_)) return false;
  if (tallies_.size() < list_.blocks.size()) tallies_.resize(list_.blocks.size());
  for (std::size_t i = 0; i < list_.blocks.size(); ++i) {
    const record::LiveBlock& block = *list_.blocks[i];
    LiveTally& tally = tallies_[i];
    const std::uint64_t owner = block.owner.load(acquire);
    if (owner == 0 || block.ended.load(acquire) != 0) continue;
    if (owner != tally.owner || block.state.load(acquire) != tally.state || tally.path.empty()) {
      if (owner != tally.owner) {
        tally.open.clear();
        tally.newest_span = 0;
      }
      tally.owner = owner;
      tally.tid = static_cast<std::uint32_t>(owner);
      follow(block, tally);
    }
    ++tally.looks;
    ++tally.nodes[tally.path.back()].looks;
    count_spans(block, tally);
  }
  return true;
}

// Ids of a thread's spans increase. Those that were open at the first look had begun before.
void LiveWatch::count_spans(const record::LiveBlock& block, LiveTally& tally) const {
  const std::uint64_t newest = tally.newest_span;
  std::uint64_t counted[record::live_most_started];
  std::size_t count = 0;
  for (const record::LiveStart& place : block.started) {
    const std::uint64_t id = place.id.load(acquire);
    if (id == 0) continue;
    const std::uint64_t entry = place.entry.load(acquire) & ~record::live_stamp_mask;
    if (place.id.load(acquire) != id) continue;
    auto spans = std::find_if(tally.spans.begin(), tally.spans.end(),
                              [&](const LiveSpans& one) { return one.entry == entry; });
    if (spans == tally.spans.end()) spans = tally.spans.insert(spans, LiveSpans{entry, 0, 0});
    if (std::find(counted, counted + count, entry) == counted + count) {
      counted[count++] = entry;
      ++spans->looks;
    }
    spans->begun += id > newest && looks_ > 1;
    tally.newest_span = std::max(tally.newest_span, id);
  }
}

void LiveWatch::follow(const record::LiveBlock& block, LiveTally& tally) {
  tally.state = block.state.load(acquire);
  read_open(block, snapshot_);
  if (tally.nodes.empty()) tally.nodes.push_back(LiveNode{});
  tally.path.assign(1, 0);
  bool same = true;
  for (std::size_t i = 0; i < snapshot_.open_count; ++i) {
    const std::uint64_t entry = snapshot_.open[i];
    same = same && i < tally.open.size() && tally.open[i] == entry;
    const std::uint32_t node = within(tally.nodes, tally.path.back(), entry);
    tally.nodes[node].begun += !same && looks_ > 1;
    tally.path.push_back(node);
  }
  tally.open.assign(snapshot_.open, snapshot_.open + snapshot_.open_count);
}

void LiveWatch::clear() {
  for (LiveTally& tally : tallies_) {
    tally.looks = 0;
    tally.nodes.clear();
    tally.spans.clear();
    tally.path.clear();
  }
}

}  // namespace nvspan::reader
