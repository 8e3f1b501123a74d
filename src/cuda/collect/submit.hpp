// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/context/device_context.hpp"

namespace nvspan::cuda {

// Tells the tool, as deferred events, of all ranges that wait in the context.
void submit_waiting(DeviceContext& context) noexcept;

}  // namespace nvspan::cuda
