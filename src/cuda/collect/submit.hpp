// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "cuda/context/device_context.hpp"

namespace nvspan::cuda {

// Sends the ranges that wait in the context to the tool, as deferred events.
void submit_waiting(DeviceContext& context) noexcept;

}  // namespace nvspan::cuda
