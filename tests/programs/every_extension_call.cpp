// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Calls every function of NVTX's payload and counter extensions, and one of an extension that
// nvspan does not know.

#include "payloads.hpp"

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtMem.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>

#include <cstdint>
#include <cstring>

namespace {

struct Point {
  std::int32_t x;
  std::uint32_t color;
};

std::int64_t clock_function() { return 1; }
std::int64_t clock_with_data(void*) { return 2; }

std::uint64_t register_point(nvtxDomainHandle_t domain) {
  const nvtxSemanticsHeader_t semantics = {sizeof semantics, 9, 1, nullptr};
  const nvtxPayloadSchemaEntry_t entries[] = {
      {0, NVTX_PAYLOAD_ENTRY_TYPE_INT32, "x", "across", 0, 0, &semantics, nullptr},
      {NVTX_PAYLOAD_ENTRY_FLAG_HIDE, NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, "color", nullptr, 0, 4,
       nullptr, nullptr},
  };
  nvtxPayloadSchemaAttr_t schema = {};
  schema.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  schema.name = "Point";
  schema.type = NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  schema.flags = 12345;  // not in the mask
  schema.entries = entries;
  schema.numEntries = 2;
  schema.payloadStaticSize = sizeof(Point);
  return nvtxPayloadSchemaRegister(domain, &schema);
}

void payload(nvtxDomainHandle_t domain) {
  CHECK(nvtxDomainIsEnabled(domain) == 1);
  CHECK(nvtxDomainIsEnabled(nullptr) == 1);
  const std::uint64_t point_schema = register_point(domain);
  CHECK(point_schema >= NVTX_PAYLOAD_SCHEMA_ID_DYNAMIC_START);
  nvtxPayloadEnum_t values[] = {{"off", 0, 0}, {"on", 1, 1}};
  nvtxPayloadEnumAttr_t enumeration = {};
  enumeration.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME | NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                          NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                          NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE |
                          NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  enumeration.name = "Switch";
  enumeration.entries = values;
  enumeration.numEntries = 2;
  enumeration.sizeOfEnum = 1;
  enumeration.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 5;
  CHECK(nvtxPayloadEnumRegister(domain, &enumeration) == enumeration.schemaId);
  nvtxScopeAttr_t scope = {};
  scope.structSize = sizeof scope;
  scope.path = "rack/node";
  scope.parentScope = NVTX_SCOPE_ROOT;
  CHECK(nvtxScopeRegister(domain, &scope) >= NVTX_SCOPE_ID_DYNAMIC_START);

  const Point point = {-1, 0xFF00FF00};
  const nvtxPayloadData_t one[] = {{point_schema, sizeof point, &point}};
  const char text[] = "inline";
  const nvtxPayloadData_t two[] = {
      {point_schema, static_cast<std::size_t>(-1), &point},  // its size is the schema's
      {NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, static_cast<std::size_t>(-1), text},
  };
  nvtxMarkPayload(domain, one, 1);
  CHECK(nvtxRangePushPayload(domain, two, 2) == 0);
  CHECK(nvtxRangePopPayload(domain, one, 1) == 0);
  const nvtxRangeId_t id = nvtxRangeStartPayload(domain, one, 1);
  CHECK(id != 0);
  nvtxRangeEndPayload(domain, id, nullptr, 0);
  const nvtxEventAttributes_t event = with_payload(named("classic"), one, 1);
  nvtxDomainMarkEx(domain, &event);

  CHECK(nvtxTimestampGet() > 0);
  nvtxTimeDomainAttr_t time = {};
  time.scopeId = NVTX_SCOPE_CURRENT_SW_PROCESS;
  time.timestampTypeId = NVTX_TIMESTAMP_TYPE_CPU_TSC;
  time.timerFlags = NVTX_TIMER_FLAG_CLOCK_STEADY;
  time.timerResolution = 10;
  time.timerStart = NVTX_TIMER_START_SYSTEM_BOOT;
  CHECK(nvtxTimeDomainRegister(domain, &time) >= NVTX_TIME_DOMAIN_ID_DYNAMIC_START);
  nvtxTimerSource(domain, 10, NVTX_TIMER_SOURCE_SAFE_CALL_AFTER_PROCESS_TEARDOWN, clock_function);
  nvtxTimerSourceWithData(domain, 10, 1, clock_with_data, nullptr);
  nvtxTimeSyncPoint(domain, 1, 10, -5, 6);
  const nvtxSyncPoint_t points[] = {{1, 2}, {3, 4}};
  nvtxTimeSyncPointTable(domain, 1, 10, points, 2);
  nvtxTimestampConversionFactor(domain, 1, 10, 0.5, 7, 8);
  nvtxEventSubmit(domain, one, 1);
  nvtxEventBatch_t batch = {};
  batch.eventSchemaId = point_schema;
  batch.size = sizeof point;
  batch.events = &point;
  batch.flags = NVTX_BATCH_FLAG_UNSORTED;
  nvtxEventBatchSubmit(domain, &batch);
}

void counters(nvtxDomainHandle_t domain) {
  nvtxSemanticsCounter_t semantics = {};
  semantics.header = {sizeof semantics, NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_COUNTER_SEMANTIC_VERSION,
                      nullptr};
  nvtxCounterAttr_t counter = {};
  counter.structSize = sizeof counter;
  counter.schemaId = NVTX_PAYLOAD_ENTRY_TYPE_INT64;
  counter.name = "queue";
  counter.description = "its length";
  counter.scopeId = NVTX_SCOPE_CURRENT_SW_THREAD;
  counter.semantics = &semantics.header;
  const std::uint64_t id = nvtxCounterRegister(domain, &counter);
  CHECK(id >= NVTX_COUNTER_ID_DYNAMIC_START);
  nvtxCounterSampleInt64(domain, id, -3);
  nvtxCounterSampleFloat64(domain, id, 0.25);
  const std::uint16_t raw = 0x0201;
  nvtxCounterSample(domain, id, &raw, sizeof raw);
  nvtxCounterSampleNoValue(domain, id, NVTX_COUNTER_SAMPLE_UNAVAILABLE);
  const std::int64_t times[] = {10, 20};
  const std::uint8_t samples[] = {1, 2};
  nvtxCounterBatch_t batch = {};
  batch.counterId = id;
  batch.counters = samples;
  batch.countersSize = sizeof samples;
  batch.timestamps = times;
  batch.timestampsSize = sizeof times;
  nvtxCounterBatchSubmit(domain, &batch);
}

void unknown(nvtxDomainHandle_t domain) {
  nvtxMemHeapDesc_t heap = {};
  heap.extCompatID = NVTX_EXT_COMPATID_MEM;
  heap.structSize = sizeof heap;
  heap.messageType = NVTX_MESSAGE_TYPE_ASCII;
  heap.message.ascii = "heap";
  CHECK(nvtxMemHeapRegister(domain, &heap) == nullptr);
}

}  // namespace

int main() {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("ext");
  payload(domain);
  counters(domain);
  unknown(domain);
}
