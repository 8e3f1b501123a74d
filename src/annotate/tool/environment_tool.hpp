// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "annotate/tool/tool_table.hpp"

namespace nvspan::annotate {

// Runs NVTX's own search for a tool (NVTX_INJECTION64_PATH, static injection, CUDA driver) and
// points `table` at what it found. False if there is no tool.
bool find_environment_tool(ToolTable& table) noexcept;

}  // namespace nvspan::annotate
