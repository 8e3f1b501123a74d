// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/deferred.hpp"

#include <cstring>
#include <map>
#include <mutex>

#include "nvtx/abi.hpp"
#include "nvtx/device_range_schema.hpp"

#if NVSPAN_HAVE_NVTX
#include <nvtx3/nvToolsExtSemanticsTime.h>
#endif
#if defined(_MSC_VER) && (defined(_M_X64) || defined(_M_IX86))
#include <intrin.h>
#elif defined(__x86_64__) || defined(__i386__)
#include <x86intrin.h>
#endif

namespace nvspan {

uint64_t time_stamp() noexcept {
#if defined(__x86_64__) || defined(__i386__) || defined(_M_X64) || defined(_M_IX86)
  return __rdtsc();
#elif defined(__aarch64__)
  uint64_t value;
  asm volatile("mrs %0, cntvct_el0" : "=r"(value));
  return value;
#else
  return 0;
#endif
}

#if NVSPAN_HAVE_NVTX

namespace {

struct Schemas {
  uint64_t epoch = 0;
  bool taken = false;
  uint64_t ids[deferred_payloads] = {};
};

struct SchemaTable {
  std::mutex mutex;
  std::map<const Domain*, Schemas> of_domain;
};

SchemaTable& schema_table() noexcept {
  static SchemaTable* const table = new SchemaTable;  // immortal, as domains are
  return *table;
}

uint64_t register_schema(const ToolTable& tool, nvtxDomainHandle_t domain,
                         DeferredPayload payload) noexcept {
  static const nvtxSemanticsTime_t clock = [] {
    nvtxSemanticsTime_t made{};
    made.header.structSize = sizeof made;
    made.header.semanticId = NVTX_SEMANTIC_ID_TIME_V1;
    made.header.version = NVTX_TIME_SEMANTIC_VERSION;
    made.timeDomainId = NVTX_TIMESTAMP_TYPE_CPU_TSC;
    return made;
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
  schema.add_origin(offsetof(DeferredRange, origin));
  return schema.register_with(tool, domain, sizeof(DeferredRange),
                              NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND);
}

using SubmitBatch = void (*)(nvtxDomainHandle_t, const nvtxEventBatch_t*);

}  // namespace

bool may_take_deferred(const ToolTable& tool) noexcept {
  return time_stamp() != 0 &&
         tool.payload_slot<SubmitBatch>(NVTX3EXT_CBID_nvtxEventBatchSubmit) != nullptr &&
         tool.payload_slot<SubmitBatch>(NVTX3EXT_CBID_nvtxPayloadSchemaRegister) != nullptr;
}

bool takes_deferred(const ToolTable& tool, Domain& domain) noexcept {
  const uint64_t epoch = tool.epoch.load(std::memory_order_acquire);
  struct Recent {
    uint64_t epoch = 0;
    const Domain* domain = nullptr;
    bool taken = false;
  };
  thread_local Recent recent;
  if (recent.epoch == epoch && recent.domain == &domain) return recent.taken;
  SchemaTable& table = schema_table();
  std::lock_guard<std::mutex> lock(table.mutex);
  Schemas& schemas = table.of_domain[&domain];
  if (schemas.epoch != epoch) {
    schemas = Schemas{};
    schemas.epoch = epoch;
    if (may_take_deferred(tool)) {
      schemas.ids[0] = register_schema(tool, domain.handle(), DeferredPayload::none);
      schemas.taken = schemas.ids[0] != 0;
    }
  }
  recent = {epoch, &domain, schemas.taken};
  return schemas.taken;
}

bool submit_deferred(Domain& domain, uint64_t epoch, DeferredPayload payload,
                     const DeferredRange* ranges, size_t count) noexcept {
  const ToolTable* tool = closing_tool();
  if (!tool || tool->epoch.load(std::memory_order_acquire) != epoch) return false;
  uint64_t schema = 0;
  {
    SchemaTable& table = schema_table();
    std::lock_guard<std::mutex> lock(table.mutex);
    Schemas& schemas = table.of_domain[&domain];
    if (schemas.epoch != epoch || !schemas.taken) return false;
    uint64_t& id = schemas.ids[static_cast<size_t>(payload)];
    if (id == 0) id = register_schema(*tool, domain.handle(), payload);
    schema = id;
  }
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

}  // namespace nvspan
