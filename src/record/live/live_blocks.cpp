// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/live/live_blocks.hpp"

#include "record/live/live_stack.hpp"

#include <algorithm>

namespace nvspan::record {
namespace {

constexpr std::size_t first_blocks = 2;  // a page, with their chunk's header
constexpr std::size_t most_blocks = 32;

constexpr unsigned use_shift = 8;  // of LiveDevice::state
constexpr std::uint64_t place_mask = live_most_devices - 1;
static_assert((live_most_devices & place_mask) == 0);

template <std::size_t count>
void store_text(LiveWord (&to)[count], std::string_view text) {
  std::uint64_t words[count] = {};
  std::size_t bytes = std::min(text.size(), sizeof words);
  // Not in the middle of a character of UTF-8.
  while (bytes < text.size() && bytes != 0 &&
         (static_cast<unsigned char>(text[bytes]) & 0xC0) == 0x80) {
    --bytes;
  }
  text.copy(reinterpret_cast<char*>(words), bytes);
  for (std::size_t i = 0; i < count; ++i) to[i].store(words[i], std::memory_order_release);
}

}  // namespace

std::atomic<LiveBlock*> live_starter[live_starters];

void LiveBlocks::restart() noexcept {
  all_.clear();
  free_.clear();
  devices_ = nullptr;
  for (std::atomic<LiveBlock*>& starter : live_starter) starter.store(nullptr);
  LiveSection& section = file_.live();
  section.mode.store(static_cast<std::uint64_t>(file_.mode()));
  section.magic.store(live_magic, std::memory_order_release);
}

bool LiveBlocks::grow() {
  if (!file_.takes_more()) return false;
  const std::size_t count = std::clamp(all_.size(), first_blocks, most_blocks);
  all_.reserve(all_.size() + count);
  free_.reserve(all_.size() + count);
  const std::size_t bytes = live_blocks_start + count * sizeof(LiveBlock);
  char* space = chunks_.allocate(bytes);
  if (space == nullptr) return false;
  auto* chunk = reinterpret_cast<ChunkHeader*>(space);
  LiveSection& section = file_.live();
  const ChunkKey key{ChunkType::events, no_thread, 0, 0, section.blocks.load()};
  chunks_.start(chunk, key, round_to_chunk(bytes));
  section.blocks.store(file_.segment().offset_of(chunk), std::memory_order_release);
  auto* blocks = reinterpret_cast<LiveBlock*>(space + live_blocks_start);
  for (std::size_t i = count; i-- > 0;) {
    all_.push_back(blocks + i);
    free_.push_back(blocks + i);
  }
  return true;
}

LiveBlock* LiveBlocks::take_ended() noexcept {
  for (LiveBlock* block : all_) {
    if (block->ended.load(std::memory_order_relaxed) != 0 && !live_has_started(*block)) {
      return block;
    }
  }
  return nullptr;
}

LiveBlock* LiveBlocks::take(std::uint32_t thread, std::uint32_t tid, std::uint64_t ticks) noexcept {
  LiveBlock* block = nullptr;
  try {
    if (free_.empty()) block = take_ended();
    if (block == nullptr && free_.empty() && !grow()) return nullptr;
  } catch (...) {
    return nullptr;
  }
  if (block == nullptr) {
    block = free_.back();
    free_.pop_back();
  }
  live_take(*block, thread, tid, ticks);
  return block;
}

void LiveBlocks::give_back(LiveBlock* block, std::uint64_t ticks) noexcept {
  if (std::find(all_.begin(), all_.end(), block) == all_.end()) return;
  live_clear(*block);
  if (live_has_started(*block)) {
    block->ended.store(ticks, std::memory_order_release);
    return;
  }
  block->owner.store(0, std::memory_order_release);
  free_.push_back(block);
}

void LiveBlocks::name(std::uint32_t tid, std::string_view name) noexcept {
  for (LiveBlock* block : all_) {
    const std::uint64_t owner = block->owner.load(std::memory_order_relaxed);
    if (owner != 0 && static_cast<std::uint32_t>(owner) == tid) {
      live_set_name(*block, name.data(), name.size());
    }
  }
}

void LiveBlocks::remember(std::uint64_t number, LiveBlock* block) noexcept {
  live_starter[number % live_starters].store(block, std::memory_order_release);
}

LiveStart* LiveBlocks::find_start(std::uint64_t id) noexcept {
  if (id == 0) return nullptr;
  LiveBlock* const starter = live_starter_of(id);
  LiveStart* place = starter == nullptr ? nullptr : live_find_start(*starter, id);
  for (std::size_t i = 0; place == nullptr && i < all_.size(); ++i) {
    place = live_find_start(*all_[i], id);
  }
  return place;
}

void LiveBlocks::ask_all() noexcept {
  for (LiveBlock* block : all_) block->asked.store(1, std::memory_order_release);
}

LiveDevice* LiveBlocks::devices() noexcept {
  if (devices_ != nullptr || !file_.is_open() || !file_.takes_more()) return devices_;
  constexpr std::size_t bytes = live_blocks_start + live_most_devices * sizeof(LiveDevice);
  char* space = chunks_.allocate(bytes);
  if (space == nullptr) return nullptr;
  auto* chunk = reinterpret_cast<ChunkHeader*>(space);
  chunks_.start(chunk, ChunkKey{ChunkType::events, no_thread}, round_to_chunk(bytes));
  devices_ = reinterpret_cast<LiveDevice*>(space + live_blocks_start);
  file_.live().devices.store(file_.segment().offset_of(chunk), std::memory_order_release);
  return devices_;
}

std::uint64_t live_open_device(LiveDevice* places, const DeviceOpening& range,
                               std::uint64_t ticks) noexcept {
  for (std::uint64_t i = 0; i < live_most_devices; ++i) {
    LiveDevice& place = places[i];
    const std::uint64_t state = place.state.load(std::memory_order_relaxed);
    if ((state & 0xFF) != 0) continue;
    const std::uint64_t use = (state >> use_shift) + 1;
    // A reader that saw the earlier use sees that its state changed.
    place.state.store(use << use_shift, std::memory_order_release);
    store_text(place.domain, range.domain);
    store_text(place.name, range.name);
    const std::uint64_t most = live_member_mask;
    const bool fits = range.device <= live_device_mask && range.ranks <= most && range.rank < most;
    const std::uint64_t member = fits ? std::uint64_t{range.rank} << live_rank_shift |
                                            std::uint64_t{range.ranks} << live_ranks_shift
                                      : 0;
    place.device.store(range.device | member, std::memory_order_release);
    place.stream.store(range.stream, std::memory_order_release);
    place.tid.store(range.tid | std::uint64_t{range.number} << live_number_shift,
                    std::memory_order_release);
    place.since.store(ticks, std::memory_order_release);
    place.state.store(use << use_shift | static_cast<std::uint64_t>(LiveDeviceState::opened),
                      std::memory_order_release);
    return use * live_most_devices + i;
  }
  return 0;
}

void live_device_state(LiveDevice* places, std::uint64_t range, LiveDeviceState state,
                       std::uint64_t ticks) noexcept {
  LiveDevice& place = places[range & place_mask];
  const std::uint64_t use = range / live_most_devices;
  const std::uint64_t now = place.state.load(std::memory_order_relaxed);
  // Two threads may tell at once: a range never goes back.
  if (now >> use_shift != use || (now & 0xFF) == 0 ||
      (now & 0xFF) >= static_cast<std::uint64_t>(state)) {
    return;
  }
  const bool over = state == LiveDeviceState::ended;
  place.state.store(use << use_shift, std::memory_order_release);
  if (over) return;
  place.since.store(ticks, std::memory_order_release);
  place.state.store(use << use_shift | static_cast<std::uint64_t>(state),
                    std::memory_order_release);
}

}  // namespace nvspan::record
