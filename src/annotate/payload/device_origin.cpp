// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/payload/device_origin.hpp"

#include "nvtx/device_range_schema.hpp"
#include "nvtx/numbers.hpp"

namespace nvspan::annotate {

DeferredPayload deferred_payload_of(int32_t payload_type) noexcept {
  switch (payload_type) {
    case NVTX_PAYLOAD_TYPE_UNSIGNED_INT64:
      return DeferredPayload::unsigned_int64;
    case NVTX_PAYLOAD_TYPE_INT64:
      return DeferredPayload::int64;
    case NVTX_PAYLOAD_TYPE_DOUBLE:
      return DeferredPayload::float64;
    default:
      return DeferredPayload::none;
  }
}

StaticSchemas::Known StaticSchemas::find(const ToolTable& tool, uint64_t epoch,
                                         const Domain& domain, DeferredPayload payload) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  Ids& known = of_domain_[&domain];
  if (epoch < known.epoch) return {epoch, &domain, payload, 0};  // of a tool that has gone
  if (epoch > known.epoch) {
    known = Ids{};
    known.epoch = epoch;
  }
  const auto index = static_cast<size_t>(payload);
  if (!known.asked[index]) {
    known.asked[index] = true;
    known.ids[index] = register_(tool, domain.handle(), payload);
  }
  return {epoch, &domain, payload, known.ids[index]};
}

#if NVSPAN_HAVE_NVTX

namespace {

using nvtx::DeviceField;
using nvtx::name_of;

struct StartedRange {
  uint64_t payload;
  DeviceOrigin origin;
};

}  // namespace

nvtxPayloadSchemaEntry_t& DeviceSchema::add(uint64_t type, const char* name, size_t offset,
                                            uint64_t flags) noexcept {
  nvtxPayloadSchemaEntry_t& entry = entries_[count_++];
  entry = nvtxPayloadSchemaEntry_t{};
  entry.flags = flags;
  entry.type = type;
  entry.name = name;
  entry.offset = offset;
  return entry;
}

void DeviceSchema::add_payload(DeferredPayload payload, size_t offset) noexcept {
  static const uint64_t types[deferred_payloads] = {
      0, NVTX_PAYLOAD_ENTRY_TYPE_UINT64, NVTX_PAYLOAD_ENTRY_TYPE_INT64,
      NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, NVTX_PAYLOAD_ENTRY_TYPE_UINT64};
  if (payload != DeferredPayload::none) {
    add(types[static_cast<size_t>(payload)], name_of(DeviceField::payload), offset);
  }
}

void DeviceSchema::add_origin(size_t offset, DeferredPayload payload) noexcept {
  add(NVTX_PAYLOAD_ENTRY_TYPE_INT32, name_of(DeviceField::device),
      offset + offsetof(DeviceOrigin, device));
  add(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, name_of(DeviceField::stream),
      offset + offsetof(DeviceOrigin, stream));
  if (payload == DeferredPayload::of_rank) {
    const size_t of_rank = offset + offsetof(DeviceOrigin, of_rank);
    add(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, nvtx::communicator_rank,
        of_rank + offsetof(CommunicatorRank, rank));
    add(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, nvtx::communicator_size,
        of_rank + offsetof(CommunicatorRank, size));
  } else {
    add(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, name_of(DeviceField::stream_handle),
        offset + offsetof(DeviceOrigin, stream_handle));
  }
  add(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, name_of(DeviceField::launch),
      offset + offsetof(DeviceOrigin, launch));
  add(NVTX_PAYLOAD_ENTRY_TYPE_INT64, name_of(DeviceField::launched),
      offset + offsetof(DeviceOrigin, launched));
  add(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, name_of(DeviceField::thread),
      offset + offsetof(DeviceOrigin, thread));
}

uint64_t DeviceSchema::register_with(const ToolTable& tool, nvtxDomainHandle_t domain, size_t size,
                                     uint64_t flags) const noexcept {
  using Register = uint64_t (*)(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t*);
  auto call = tool.payload_slot<Register>(NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
  if (!call) return 0;
  nvtxPayloadSchemaAttr_t attributes{};
  attributes.fieldMask =
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
      NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  attributes.name = nvtx::device_range_schema_name;
  attributes.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.flags = flags;
  attributes.entries = entries_;
  attributes.numEntries = count_;
  attributes.payloadStaticSize = size;
  return call(domain, &attributes);
}

namespace {

uint64_t register_started_range(const ToolTable& tool, nvtxDomainHandle_t domain,
                                DeferredPayload payload) {
  DeviceSchema schema;
  schema.add_payload(payload, offsetof(StartedRange, payload));
  schema.add_origin(offsetof(StartedRange, origin), payload);
  return schema.register_with(tool, domain, sizeof(StartedRange), /*flags=*/0);
}

}  // namespace

uint64_t origin_schema(const ToolTable& tool, Domain& domain, DeferredPayload payload) noexcept {
  thread_local StaticSchemas::Known recent;
  const uint64_t epoch = tool.epoch.load(std::memory_order_acquire);
  if (!recent.is_of(epoch, domain, payload)) {
    static auto* const schemas = new StaticSchemas(register_started_range);
    recent = schemas->find(tool, epoch, domain, payload);
  }
  return recent.id;
}

uint64_t send_device_start(const Outgoing& event, const ToolTable& tool, uint64_t schema,
                           const DeviceOrigin& origin) noexcept {
  if (schema == 0) return send_start(event, tool);
  const StartedRange range = {event.attributes.payload.ullValue, origin};
  const nvtxPayloadData_t piece = {schema, sizeof range, &range};
  Outgoing out = event;
  out.attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  out.attributes.reserved0 = 1;
  out.attributes.payload.ullValue = reinterpret_cast<uintptr_t>(&piece);
  return send_start(out, tool);
}

#else

uint64_t origin_schema(const ToolTable&, Domain&, DeferredPayload) noexcept { return 0; }
uint64_t send_device_start(const Outgoing& event, const ToolTable& tool, uint64_t,
                           const DeviceOrigin&) noexcept {
  return send_start(event, tool);
}

#endif

}  // namespace nvspan::annotate
