// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Memory of the CPU's that kernels write to.

#include <cstddef>

#include "cuda/driver/driver.hpp"

namespace nvspan::cuda {

// `host` and `device` are the same memory for the CPU and for kernels.
struct PinnedMemory {
  void* host = nullptr;
  DevicePointer device = 0;
};

// Zeroed memory for the context that is current. Where the driver allows, it is memory of the
// process that the context maps: it stays readable when the context is destroyed under a thread
// that reads it, and is never freed. False if the driver refuses.
bool allocate_pinned(const Driver& api, size_t bytes, PinnedMemory& made) noexcept;

}  // namespace nvspan::cuda
