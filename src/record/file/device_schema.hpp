// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The part of a device range's extended payload that a recording keeps.

#pragma once

#include "nvtx/device_range_schema.hpp"
#include "nvtx/numbers.hpp"
#include "record/file/format.hpp"
#include "trace/event/event.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::record {

constexpr std::uint64_t most_device_bytes = 4096;

using nvtx::DeviceField;
static_assert(nvtx::device_field_count == device_fields);

// Of NVTX's number of an entry's type; none: a type that no payload has.
constexpr trace::PayloadType device_payload_type(std::uint64_t entry_type) {
  return entry_type == nvtx::entry_type::int64      ? trace::PayloadType::i64
         : entry_type == nvtx::entry_type::uint64   ? trace::PayloadType::u64
         : entry_type == nvtx::entry_type::c_double ? trace::PayloadType::f64
                                                    : trace::PayloadType::none;
}

}  // namespace nvspan::record
