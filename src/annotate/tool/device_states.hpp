// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How far open device ranges are, told to a tool that wants to know: nvspan's own recorder.

#include <cstdint>

#include "annotate/tool/tool_table.hpp"

namespace nvspan::annotate {

enum class DeviceState : unsigned { opened = 1, launched = 2, begun = 3, ended = 4 };

// Which operation of a communicator a range is, and whose; `ranks` 0: it is none.
struct GroupPlace {
  uint32_t number = 0;  // the lowest bits of it
  uint32_t rank = 0;
  uint32_t ranks = 0;
};

// The tool's own number of the range; 0: it keeps none. `domain` null: the default domain.
uint64_t open_device(const ToolTable& tool, const char* domain, const char* name, int device,
                     uint64_t stream, uint32_t thread, const GroupPlace& of) noexcept;
// `range` is not 0.
void tell_device_state(uint64_t range, DeviceState state) noexcept;

}  // namespace nvspan::annotate
