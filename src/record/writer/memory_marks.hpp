// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "trace/event/event.hpp"
#include "trace/payload/payload_schema.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::record {

// Memory that was allocated or freed for GPUs.
struct MemoryUse {
  std::uint64_t address = 0;
  std::uint64_t bytes = 0;
  std::uint32_t device = 0;
  std::uint32_t context = 0;
  std::uint32_t stream = 0;
  std::uint32_t correlation = 0;  // of the call, where calls are recorded
};

constexpr std::uint64_t memory_domain_handle = 0x4E56'F000'0000'0003u;
constexpr std::string_view memory_domain = "CUDA memory";

// The schema of such marks, for the table by which a recorder describes payloads.
void add_memory_schema(trace::SchemaTable& schemas);
// The mark of a use, without time; `use` and `blob` are to live as long.
trace::Event memory_event(std::string_view name, const MemoryUse& use, trace::PayloadBlob& blob);

}  // namespace nvspan::record
