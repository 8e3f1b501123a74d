// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/payload/deferred_batch.hpp"

#include "annotate/tool/attachment.hpp"
#include "core/os/clock.hpp"
#include "nvtx/abi.hpp"
#include "nvtx/device_range_schema.hpp"

#if NVSPAN_HAVE_NVTX
#include <nvtx3/nvToolsExtSemanticsTime.h>
#endif

namespace nvspan::annotate {

#if NVSPAN_HAVE_NVTX

namespace {

using SubmitBatch = void (*)(nvtxDomainHandle_t, const nvtxEventBatch_t*);

uint64_t register_deferred_range(const ToolTable& tool, nvtxDomainHandle_t domain,
                                 DeferredPayload payload) {
  if (!may_take_deferred(tool)) return 0;
  static const nvtxSemanticsTime_t clock = [] {
    nvtxSemanticsTime_t semantics{};
    semantics.header.structSize = sizeof semantics;
    semantics.header.semanticId = NVTX_SEMANTIC_ID_TIME_V1;
    semantics.header.version = NVTX_TIME_SEMANTIC_VERSION;
    semantics.timeDomainId = NVTX_TIMESTAMP_TYPE_CPU_TSC;
    return semantics;
  }();
  constexpr uint64_t time_flag = NVTX_PAYLOAD_ENTRY_FLAG_TIMESTAMP;
  DeviceSchema schema;
  schema
      .add(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "begin", offsetof(DeferredRange, begin),
           time_flag | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN)
      .semantics = &clock.header;
  schema
      .add(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "end", offsetof(DeferredRange, end),
           time_flag | NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END)
      .semantics = &clock.header;
  schema.add(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "message",
             offsetof(DeferredRange, message), NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE);
  schema.add(NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, "color", offsetof(DeferredRange, color));
  schema.add(NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "category", offsetof(DeferredRange, category));
  schema.add_payload(payload, offsetof(DeferredRange, payload));
  schema.add(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, name_of(nvtx::DeviceField::uncertainty),
             offsetof(DeferredRange, uncertainty));
  schema.add_origin(offsetof(DeferredRange, origin), payload);
  return schema.register_with(tool, domain, sizeof(DeferredRange),
                              NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND);
}

StaticSchemas& static_schemas() noexcept {
  static auto* const of_deferred_ranges = new StaticSchemas(register_deferred_range);
  return *of_deferred_ranges;
}

}  // namespace

bool may_take_deferred(const ToolTable& tool) noexcept {
  return core::time_stamp() != 0 &&
         tool.payload_slot<SubmitBatch>(NVTX3EXT_CBID_nvtxEventBatchSubmit) != nullptr &&
         tool.payload_slot<SubmitBatch>(NVTX3EXT_CBID_nvtxPayloadSchemaRegister) != nullptr;
}

bool takes_deferred(const ToolTable& tool, Domain& domain) noexcept {
  thread_local StaticSchemas::Known recent;
  const uint64_t epoch = tool.epoch.load(std::memory_order_acquire);
  if (!recent.is_of(epoch, domain, DeferredPayload::none)) {
    recent = static_schemas().find(tool, epoch, domain, DeferredPayload::none);
  }
  return recent.id != 0;
}

bool submit_deferred(Domain& domain, uint64_t epoch, DeferredPayload payload,
                     const DeferredRange* ranges, size_t count) noexcept {
  const ToolTable* tool = closing_tool();
  if (!tool || tool->epoch.load(std::memory_order_acquire) != epoch) return false;
  const uint64_t schema = static_schemas().find(*tool, epoch, domain, payload).id;
  auto call = tool->payload_slot<SubmitBatch>(NVTX3EXT_CBID_nvtxEventBatchSubmit);
  if (schema == 0 || !call) return false;
  nvtxEventBatch_t batch{};
  batch.eventSchemaId = schema;
  batch.flags = NVTX_BATCH_FLAG_TIME_SORTED;
  constexpr size_t most_at_once = 4096;  // a tool may bound what it reads of one call
  for (size_t at = 0; at < count; at += most_at_once) {
    const size_t taken = count - at < most_at_once ? count - at : most_at_once;
    batch.size = taken * sizeof(DeferredRange);
    batch.events = ranges + at;
    call(domain.handle(), &batch);
  }
  return true;
}

#else

bool may_take_deferred(const ToolTable&) noexcept { return false; }
bool takes_deferred(const ToolTable&, Domain&) noexcept { return false; }
bool submit_deferred(Domain&, uint64_t, DeferredPayload, const DeferredRange*, size_t) noexcept {
  return false;
}

#endif

}  // namespace nvspan::annotate
