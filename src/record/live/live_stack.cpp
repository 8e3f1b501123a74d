// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/live/live_stack.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::record {

void live_remove(LiveBlock& block, std::uint64_t domain) noexcept {
  const std::uint64_t state = block.state.load(std::memory_order_relaxed);
  const std::uint64_t depth = state & live_depth_mask;
  if (depth > live_most_open) {  // whose domain nobody knows
    block.state.store(state + live_one_event - 1, std::memory_order_release);
    return;
  }
  const auto matches = [&](std::uint64_t i) {
    const std::uint64_t entry = block.open[i].load(std::memory_order_relaxed);
    return ((entry >> live_domain_shift ^ domain) & live_domain_mask) == 0;
  };
  std::uint64_t found = depth;
  while (found != 0 && !matches(found - 1)) --found;
  if (found == 0) return live_touch(block);
  --found;
  const std::uint64_t count = (state >> live_count_shift) << live_count_shift;
  block.state.store((count + live_one_event) | live_changing | found, std::memory_order_release);
  for (std::uint64_t i = found; i + 1 < depth; ++i) {
    block.open[i].store(block.open[i + 1].load(std::memory_order_relaxed),
                        std::memory_order_release);
  }
  block.state.store((count + 2 * live_one_event) | (depth - 1), std::memory_order_release);
}

bool live_start(LiveBlock& block, std::uint64_t id, std::uint64_t entry,
                std::uint64_t ticks) noexcept {
  LiveStart* const place = live_free_start(block);
  if (place != nullptr) {
    live_start_at(block, *place, id, entry, ticks);
    return true;
  }
  live_touch(block);
  block.started_beyond.fetch_add(1, std::memory_order_relaxed);
  return false;
}

void live_end(LiveBlock& block, std::uint64_t id) noexcept {
  if (LiveStart* const place = live_find_start(block, id)) {
    live_free_place(*place, id);
    return;
  }
  std::uint64_t beyond = block.started_beyond.load(std::memory_order_relaxed);
  while (beyond != 0 && !block.started_beyond.compare_exchange_weak(beyond, beyond - 1)) {
  }
}

bool live_has_started(const LiveBlock& block) noexcept {
  const auto open = [](const LiveStart& place) {
    return place.id.load(std::memory_order_relaxed) != 0;
  };
  return std::any_of(block.started, block.started + live_most_started, open);
}

void live_take(LiveBlock& block, std::uint32_t thread, std::uint32_t tid,
               std::uint64_t ticks) noexcept {
  live_clear(block);
  block.owner.store(0, std::memory_order_release);
  block.changed.store(0, std::memory_order_release);
  block.ended.store(0, std::memory_order_release);
  block.started_beyond.store(0, std::memory_order_release);
  live_set_name(block, "", 0);
  block.since.store(ticks, std::memory_order_release);
  block.owner.store(std::uint64_t{thread + 1} << 32 | tid, std::memory_order_release);
}

void live_set_name(LiveBlock& block, const char* name, std::size_t bytes) noexcept {
  std::uint64_t words[live_name_words] = {};
  constexpr std::size_t room = sizeof words;
  if (bytes > room) {
    bytes = room;
    // Not in the middle of a character of UTF-8.
    while (bytes != 0 && (static_cast<unsigned char>(name[bytes]) & 0xC0) == 0x80) --bytes;
  }
  if (bytes != 0) std::memcpy(words, name, bytes);
  const std::uint64_t number = block.names.load(std::memory_order_relaxed) + 1;
  for (std::size_t i = 0; i < live_name_words; ++i) {
    block.name[number % 2][i].store(words[i], std::memory_order_release);
  }
  block.names.store(number, std::memory_order_release);
}

void live_clear(LiveBlock& block) noexcept {
  const std::uint64_t state = block.state.load(std::memory_order_relaxed);
  const std::uint64_t count = (state >> live_count_shift) << live_count_shift;
  block.state.store(count + live_one_event, std::memory_order_release);
}

}  // namespace nvspan::record
