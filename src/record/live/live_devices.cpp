// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/live/live_devices.hpp"

#include <algorithm>

namespace nvspan::record {
namespace {

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
