// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One round through a context: finished ranges are read, converted and submitted to the tool.

#include <cstdint>

#include "cuda/context/device_context.hpp"

namespace nvspan::cuda {

// calibrating: a kernel of ours waits on the GPU until it is asked.
enum class Activity : uint8_t { none, watching, working, calibrating };

// On the poller's thread alone. With `hurry` nothing waits for the next regular calibration. Adds
// to `backlog` the ranges that are read and not submitted yet.
Activity read_context(const Driver& api, DeviceContext& context, bool hurry,
                      uint64_t& backlog) noexcept;

// Sends the ranges that wait in the context to the tool, as deferred events.
void submit_waiting(DeviceContext& context) noexcept;

}  // namespace nvspan::cuda
