// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Open device ranges in the recording's file. Calls take turns: the session's lock orders them.

#pragma once

#include "record/file/live_format.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::record {

struct DeviceOpening {
  std::string_view domain;
  std::string_view name;
  std::uint64_t device = 0;
  std::uint64_t stream = 0;
  std::uint32_t tid = 0;
  // Of an operation of NCCL; `ranks` 0: it is none.
  std::uint32_t number = 0;
  std::uint32_t rank = 0;
  std::uint32_t ranks = 0;
};

// What live_device_state() takes; 0: all places are taken.
std::uint64_t live_open_device(LiveDevice* places, const DeviceOpening& range,
                               std::uint64_t ticks) noexcept;
// A range that has ended frees its place. One that is not there any more changes nothing.
void live_device_state(LiveDevice* places, std::uint64_t range, LiveDeviceState state,
                       std::uint64_t ticks) noexcept;

}  // namespace nvspan::record
