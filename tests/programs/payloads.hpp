// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Payload schemas, and events with payloads of several pieces.
#pragma once

#include "events.hpp"

#include <nvtx3/nvToolsExtPayload.h>

#include <cstdint>
#include <string>
#include <vector>

using Entries = std::vector<nvtxPayloadSchemaEntry_t>;

// What is 0 is not in the schema's mask.
struct Schema {
  std::uint64_t type;
  std::size_t size = 0;
  std::uint64_t id = 0;
  std::uint64_t flags = 0;
  const char* name = nullptr;
};

inline nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::uint64_t flags = 0,
                                      std::uint64_t detail = 0, std::uint64_t offset = 0) {
  nvtxPayloadSchemaEntry_t made = {};
  made.flags = flags;
  made.type = type;
  made.name = name;
  made.arrayOrUnionDetail = detail;
  made.offset = offset;
  return made;
}

inline std::uint64_t register_schema(nvtxDomainHandle_t domain, const Schema& schema,
                                     const Entries& entries) {
  nvtxPayloadSchemaAttr_t made = {};
  made.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  if (schema.size != 0) made.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  if (schema.id != 0) made.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  if (schema.flags != 0) made.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS;
  if (schema.name != nullptr) made.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME;
  made.name = schema.name;
  made.type = schema.type;
  made.flags = schema.flags;
  made.entries = entries.data();
  made.numEntries = entries.size();
  made.payloadStaticSize = schema.size;
  made.schemaId = schema.id;
  return nvtxPayloadSchemaRegister(domain, &made);
}

// Numbers of operations, as NCCL has them.
inline void register_operations(nvtxDomainHandle_t domain, std::uint64_t id) {
  const nvtxPayloadEnum_t values[] = {{"sum", 0, 0}, {"max", 2, 0}};
  nvtxPayloadEnumAttr_t made = {};
  made.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                   NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID |
                   NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME;
  made.name = "operation";
  made.entries = values;
  made.numEntries = 2;
  made.sizeOfEnum = sizeof(std::uint32_t);
  made.schemaId = id;
  nvtxPayloadEnumRegister(domain, &made);
}

// The pieces must outlive the event.
inline nvtxEventAttributes_t with_payload(nvtxEventAttributes_t event,
                                          const nvtxPayloadData_t* pieces, std::size_t count) {
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = static_cast<std::int32_t>(count);
  event.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(pieces);
  return event;
}

inline void mark(nvtxDomainHandle_t domain, const char* name,
                 const std::vector<nvtxPayloadData_t>& pieces) {
  const nvtxEventAttributes_t event = with_payload(named(name), pieces.data(), pieces.size());
  nvtxDomainMarkEx(domain, &event);
}

template <typename T>
void add(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

// The form of a length of its own, with a piece of a predefined type after it.
inline void mark_dynamic(nvtxDomainHandle_t domain, std::uint64_t flags_of_count) {
  const std::uint64_t words = register_schema(
      domain, {NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC},
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "count", flags_of_count),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "sizes", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, 0),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, "text",
             NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED)});
  std::string bytes;
  add(bytes, std::uint32_t{3});
  for (const std::int16_t size : {1, -2, 300}) add(bytes, size);
  bytes.append("h\xc3\xa9", 4);
  const double more = 2.5;
  mark(domain, "dynamic",
       {{words, bytes.size(), bytes.data()}, {NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, sizeof more, &more}});
}

inline void mark_union(nvtxDomainHandle_t domain) {
  const std::uint64_t number = register_schema(
      domain, {NVTX_PAYLOAD_SCHEMA_TYPE_UNION, 8},
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "i"), entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "f")});
  const std::uint64_t either = register_schema(
      domain, {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 16},
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "which"), entry(number, "number", 0, 0, 8)});
  std::string chosen;
  add(chosen, std::uint64_t{1});
  add(chosen, 0.25);
  mark(domain, "union", {{either, chosen.size(), chosen.data()}});
}
