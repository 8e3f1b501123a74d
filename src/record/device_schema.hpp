// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// How a program describes the ranges of its devices: by an extended payload whose schema has this
// name and these entries. docs/device.md says what each of them means.

#pragma once

#include "record/event.hpp"
#include "record/format.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan {

constexpr std::string_view device_schema_name = "nvspan device range";
constexpr std::uint64_t most_device_bytes = 4096;

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
constexpr std::string_view device_field_names[device_fields] = {
    "device",   "stream", "stream_handle",  "launch",
    "launched", "thread", "uncertainty_ns", "payload"};

// Of NVTX's number of an entry's type; none: not one that a payload has.
constexpr PayloadType device_payload_type(std::uint64_t entry_type) {
  constexpr std::uint64_t int64 = 17, uint64 = 18, float64 = 20;
  return entry_type == int64     ? PayloadType::i64
         : entry_type == uint64  ? PayloadType::u64
         : entry_type == float64 ? PayloadType::f64
                                 : PayloadType::none;
}

}  // namespace nvspan
