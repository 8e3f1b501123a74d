// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Host memory that kernels write to.

#include <cstddef>

#include "cuda/driver/driver.hpp"

namespace nvspan::cuda {

// The same memory, as the CPU (`host`) and as kernels (`device`) address it.
struct PinnedMemory {
  void* host = nullptr;
  DevicePointer device = 0;
};

// Zeroed memory for the context that is current. Where the driver allows, it is memory of the
// process that the context maps: it stays readable when the context is destroyed while a
// thread reads it, and is never freed. False if the driver refuses.
bool allocate_pinned(const Driver& api, size_t bytes, PinnedMemory& pinned) noexcept;

}  // namespace nvspan::cuda
