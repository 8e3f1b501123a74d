// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Names of CUDA's devices, streams and events. They are kept, because a tool that attaches later
// wants them too. CUDA itself is not touched.

#include <cstddef>
#include <cstdint>
#include <string>

#include "annotate/tool/tool_table.hpp"

namespace nvspan::annotate {

// A stream or event has one handle in the driver and in the runtime, a device one ordinal: the
// driver's names are those that tools show for both.
enum class CudaObject : uint8_t { device, stream, event };

// Keeps the name and sends it to the tool that is attached. Any thread. Of the names kept for later
// tools the oldest goes when there are too many.
void name_cuda_object(CudaObject kind, uint64_t handle, const std::string& name);

// Sends all names to a tool that has just been attached, in the order in which they were given.
void send_cuda_names(const ToolTable& tool) noexcept;

size_t named_cuda_objects() noexcept;

}  // namespace nvspan::annotate
