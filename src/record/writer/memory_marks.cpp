// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/writer/memory_marks.hpp"

#include "nvtx/numbers.hpp"

#include <cstddef>

namespace nvspan::record {
namespace {

constexpr std::uint64_t memory_schema = std::uint64_t{1} << 24;

}  // namespace

void add_memory_schema(trace::SchemaTable& schemas) {
  using Entries = trace::PayloadEntry[6];
  Entries entries;
  const auto set = [](trace::PayloadEntry& entry, std::uint64_t type, std::string_view name,
                      std::size_t offset) {
    entry.type = type;
    entry.name = name;
    entry.offset = offset;
  };
  namespace types = nvtx::entry_type;
  set(entries[0], types::uint64, "address", offsetof(MemoryUse, address));
  set(entries[1], types::uint64, "bytes", offsetof(MemoryUse, bytes));
  set(entries[2], types::uint32, "device", offsetof(MemoryUse, device));
  set(entries[3], types::uint32, "context", offsetof(MemoryUse, context));
  set(entries[4], types::uint32, "stream", offsetof(MemoryUse, stream));
  set(entries[5], types::uint32, "correlation", offsetof(MemoryUse, correlation));
  trace::PayloadSchema schema;
  schema.id = memory_schema;
  schema.type = nvtx::schema_type::fixed_schema;
  schema.size = sizeof(MemoryUse);
  schema.name = memory_domain;
  schema.entries = entries;
  schema.count = sizeof entries / sizeof *entries;
  schemas.add(memory_domain_handle, schema);
}

trace::Event memory_event(std::string_view name, const MemoryUse& use, trace::PayloadBlob& blob) {
  blob.schema_id = memory_schema;
  blob.size = sizeof use;
  blob.data = std::string_view(reinterpret_cast<const char*>(&use), sizeof use);
  trace::Event event;
  event.kind = trace::EventKind::mark;
  event.domain_handle = memory_domain_handle;
  event.domain = memory_domain;
  event.message = name;
  event.message_type = trace::MessageType::ascii;
  event.payload_type = trace::PayloadType::ext;
  event.blobs = &blob;
  event.blob_count = 1;
  return event;
}

}  // namespace nvspan::record
