// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/live/live_block.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::reader {
namespace {

constexpr int most_looks = 2000;

void read_name(const record::LiveBlock& block, LiveSnapshot& out) noexcept {
  std::uint64_t words[record::live_name_words] = {};
  for (int look = 0; look < most_looks; ++look) {
    const std::uint64_t number = block.names.load(acquire);
    for (std::size_t i = 0; i < record::live_name_words; ++i) {
      words[i] = block.name[number % 2][i].load(acquire);
    }
    if (block.names.load(acquire) == number) break;
    std::memset(words, 0, sizeof words);
  }
  std::memcpy(out.name, words, sizeof words);
  out.name[sizeof words] = '\0';
}

// How many events of the thread ago a range was opened, modulo 1024.
std::uint64_t events_since(const LiveSnapshot& now, std::uint64_t entry) noexcept {
  constexpr std::uint64_t mask = record::live_stamp_mask >> record::live_stamp_shift;
  return (now.count - (entry >> record::live_stamp_shift)) & mask;
}

void read_started(const record::LiveBlock& block, LiveSnapshot& out) noexcept {
  out.started_count = 0;
  for (const record::LiveStart& place : block.started) {
    LiveStarted found{place.id.load(acquire), place.entry.load(acquire), place.ticks.load(acquire),
                      out.open_count};
    if (found.id == 0 || place.id.load(acquire) != found.id) continue;
    const std::uint64_t age = events_since(out, found.entry);
    while (found.within != 0 && events_since(out, out.open[found.within - 1]) < age) --found.within;
    out.started[out.started_count++] = found;
  }
  std::sort(out.started, out.started + out.started_count,
            [](const LiveStarted& a, const LiveStarted& b) { return a.id < b.id; });
  out.started_beyond = block.started_beyond.load(acquire);
}

}  // namespace

void read_open(const record::LiveBlock& block, LiveSnapshot& out) noexcept {
  out.open_count = record::live_most_open;
  out.depth = record::live_depth_mask;
  std::uint64_t now[record::live_most_open];
  for (int look = 0; look < most_looks; ++look) {
    const std::uint64_t state = block.state.load(acquire);
    const std::uint64_t depth = state & record::live_depth_mask;
    const auto count =
        static_cast<std::size_t>(std::min<std::uint64_t>(depth, record::live_most_open));
    for (std::size_t i = 0; i < count; ++i) now[i] = block.open[i].load(acquire);
    const std::uint64_t changed = block.changed.load(acquire);
    const std::uint64_t after = block.state.load(acquire);
    out.count = after >> record::live_count_shift;
    out.changed = changed;
    if (state == after && (state & record::live_changing) == 0) {
      std::copy(now, now + count, out.open);
      out.open_count = count;
      out.depth = depth;
      out.changing = false;
      return;
    }
    std::size_t same = std::min(out.open_count, count);
    if (look == 0) {
      std::copy(now, now + count, out.open);
    } else {
      same = static_cast<std::size_t>(std::mismatch(now, now + same, out.open).first - now);
    }
    const auto later = static_cast<std::size_t>(after & record::live_depth_mask);
    out.open_count = std::min(same, later);
    out.depth = out.open_count;
  }
  out.changing = true;
}

bool read_block(const record::LiveBlock& block, LiveSnapshot& out) noexcept {
  for (int look = 0; look < most_looks; ++look) {
    const std::uint64_t owner = block.owner.load(acquire);
    if (owner == 0) return false;
    out.tid = static_cast<std::uint32_t>(owner);
    out.thread = static_cast<std::uint32_t>(owner >> 32) - 1;
    read_open(block, out);
    read_name(block, out);
    read_started(block, out);
    out.ended = block.ended.load(acquire);
    if (block.owner.load(acquire) == owner) return true;
  }
  return false;
}

}  // namespace nvspan::reader
