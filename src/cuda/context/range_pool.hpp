// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The memory of device ranges and the references to them.

#include "cuda/model/device_range.hpp"

namespace nvspan::cuda {

// With one reference.
DeviceRange* new_range() noexcept;

void retain(DeviceRange* range) noexcept;
void release(DeviceRange* range) noexcept;

// The range is over: its handle learns that, and the reference of the range in flight is released.
void finish(DeviceRange* range, PhaseEvent how) noexcept;

}  // namespace nvspan::cuda
