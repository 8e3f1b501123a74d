// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// An injection library that is connected to this process's nvspan alone, and what it sees of us:
// NVTX's export tables over slots of our own.
//
// All functions are called under the attachment's lock.

#include <string>

namespace nvspan::annotate {

struct ToolTable;

// A library that has been connected once. It keeps its slots for good, so that a thread that reads
// them while the library is detached, or attached again, finds them whole.
struct LocalTool;

// Loads and connects the library, or opens it again. Null with `problem` set if that fails.
LocalTool* open_local_tool(const std::string& path, const std::string& config,
                           std::string& problem);
ToolTable* local_table(LocalTool& tool) noexcept;
void close_local_tool(LocalTool& tool) noexcept;

}  // namespace nvspan::annotate
