// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranges that are sent to the tool when they are over, with the times at which they began and
// ended: deferred events of NVTX's payload extension.
//
// The name of their schema and the names of its entries are what tells a reader that a range is of
// a device, and of which stream: docs/device.md.

#include <cstddef>
#include <cstdint>

#include "annotate/event/domain.hpp"
#include "annotate/payload/device_origin.hpp"
#include "annotate/tool/tool_table.hpp"

namespace nvspan::annotate {

// One range. Times are readings of the processor's time stamp counter. The members are what the
// schema tells the tool: their order and sizes are part of it.
struct DeferredRange {
  int64_t begin;
  int64_t end;
  uint64_t message;  // the tool's handle of a registered string
  uint64_t payload;
  uint32_t color;  // ARGB
  uint32_t category;
  uint32_t uncertainty;  // of each time, in ns
  uint32_t reserved;
  DeviceOrigin origin;
};

// True if the tool takes deferred events with times of the time stamp counter: it has to have
// filled the functions and to accept the schema. The domain must be connected to the tool.
bool takes_deferred(const ToolTable& tool, Domain& domain) noexcept;

// Whether the tool has the functions for it, which most that take deferred events fill alone. Asks
// the tool nothing.
bool may_take_deferred(const ToolTable& tool) noexcept;

// Sends `count` ranges, in the order of their beginnings, if the tool is still that of `epoch`.
// Returns whether it was.
bool submit_deferred(Domain& domain, uint64_t epoch, DeferredPayload payload,
                     const DeferredRange* ranges, size_t count) noexcept;

}  // namespace nvspan::annotate
