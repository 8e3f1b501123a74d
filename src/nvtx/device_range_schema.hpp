// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a program describes the ranges of its devices: by an extended payload whose schema has this
// name and entries of these names. docs/device.md says what each of them means.

#include <cstddef>
#include <cstdint>

namespace nvspan::nvtx {

constexpr const char* device_range_schema_name = "nvspan device range";

// Recordings keep where each of these lies: the order is part of their format.
enum class DeviceField : std::uint8_t {
  device,
  stream,
  stream_handle,
  launch,
  launched,
  thread,
  uncertainty,
  payload,
};
constexpr std::size_t device_field_count = 8;
constexpr const char* device_field_names[device_field_count] = {
    "device",   "stream", "stream_handle",  "launch",
    "launched", "thread", "uncertainty_ns", "payload"};

// Instead of `stream_handle`, of a collective: whose it is in its communicator, of how many.
constexpr const char* communicator_rank = "rank";
constexpr const char* communicator_size = "size";

constexpr const char* name_of(DeviceField field) noexcept {
  return device_field_names[static_cast<std::size_t>(field)];
}

}  // namespace nvspan::nvtx
