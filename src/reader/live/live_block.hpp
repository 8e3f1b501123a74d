// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Lock-free reader for a thread's open ranges. Retries until two equal states surround a read.

#pragma once

#include "record/file/live_format.hpp"

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace nvspan::reader {

constexpr auto acquire = std::memory_order_acquire;

struct LiveStarted {
  std::uint64_t id;
  std::uint64_t entry;
  std::uint64_t ticks;  // 0: not known
  std::size_t within;   // how many of the thread's open ranges are older than it
};

// A block at one moment.
struct LiveSnapshot {
  std::uint32_t tid;
  std::uint32_t thread;
  std::uint64_t count;  // of events, modulo 2^43
  std::uint64_t depth;
  // The thread changed it all the while, or was ended in the middle of a change: `open` has the
  // outer ranges that stayed, and `depth` is how many those are.
  bool changing;
  std::uint64_t changed;  // ticks; 0: not known
  std::uint64_t ended;
  std::size_t open_count;
  std::uint64_t open[record::live_most_open];
  std::size_t started_count;
  LiveStarted started[record::live_most_started];  // the oldest first
  std::uint64_t started_beyond;
  char name[record::live_name_words * sizeof(std::uint64_t) + 1];
};

// The open ranges between two equal states. Where the thread never rests so long, those that were
// the same in every look. It sets the fields from `count` to `open`.
void read_open(const record::LiveBlock& block, LiveSnapshot& out) noexcept;
// False: it is nobody's.
bool read_block(const record::LiveBlock& block, LiveSnapshot& out) noexcept;

}  // namespace nvspan::reader
