// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/live/live_file.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

// A range within its parent: in how many looks it was the innermost one, and how often it was seen
// to have begun. One that began and ended between two looks was not seen.
struct LiveNode {
  std::uint64_t entry;
  std::uint32_t parent;  // index; 0: the root, which is in no range
  std::uint32_t child;   // the first one; 0: none
  std::uint32_t next;    // its parent's next child; 0: none
  std::uint32_t looks;
  std::uint32_t begun;
};

// The spans of one name that a thread has started.
struct LiveSpans {
  std::uint64_t entry;
  std::uint32_t looks;  // in which one of them was open at least
  std::uint32_t begun;
};

// What the looks at a thread have found. The thread that has its block next goes on in it.
struct LiveTally {
  std::uint32_t tid = 0;
  std::uint32_t looks = 0;
  std::vector<LiveNode> nodes;
  std::vector<LiveSpans> spans;

  // What follows is of the last look.
  std::uint64_t owner = 0;
  std::uint64_t state = 0;
  std::vector<std::uint64_t> open;
  std::vector<std::uint32_t> path;  // of nodes, the root first
  std::uint64_t newest_span = 0;    // its id
};

// Looks at the open ranges of a process, some thousand times a second: where nothing has changed, a
// look at a thread is two loads and those of its spans. It takes the file to itself.
class LiveWatch {
 public:
  explicit LiveWatch(LiveFile& file) : file_(file) {}
  bool look();  // false: the file's problem() says why
  const std::vector<LiveTally>& tallies() const noexcept { return tallies_; }
  void clear();  // what was counted

 private:
  void follow(const record::LiveBlock& block, LiveTally& tally);
  void count_spans(const record::LiveBlock& block, LiveTally& tally) const;

  LiveFile& file_;
  unsigned looks_ = 0;
  LiveBlockList list_;
  std::vector<LiveTally> tallies_;  // of each block
  LiveSnapshot snapshot_ = {};
};

}  // namespace nvspan::reader
