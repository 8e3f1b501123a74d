// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What no program should pass to NVTX, and some do. The tool must show as much as there is, and
// the program must come to its end.

#include "events.hpp"

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtSync.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <string>

namespace {

constexpr std::size_t unknown_size = static_cast<std::size_t>(-1);

template <typename Handle>
Handle garbage() {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(0xDEAD));
}

void nulls() {
  nvtxMarkA(nullptr);
  nvtxMarkW(nullptr);
  nvtxMarkEx(nullptr);
  nvtxRangePushA(nullptr);
  nvtxRangePushW(nullptr);
  nvtxRangePushEx(nullptr);
  nvtxRangePop();
  nvtxRangePop();
  nvtxRangePop();
  nvtxRangeEnd(nvtxRangeStartA(nullptr));
  nvtxRangeEnd(nvtxRangeStartW(nullptr));
  nvtxRangeEnd(nvtxRangeStartEx(nullptr));
  nvtxEventAttributes_t ascii = named(static_cast<const char*>(nullptr));
  nvtxMarkEx(&ascii);
  ascii.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  nvtxMarkEx(&ascii);
  ascii.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  nvtxMarkEx(&ascii);
  nvtxNameCategoryA(3, nullptr);
  nvtxNameOsThreadA(3, nullptr);
  nvtxDomainHandle_t domain = nvtxDomainCreateA(nullptr);
  nvtxStringHandle_t string = nvtxDomainRegisterStringA(domain, nullptr);
  const nvtxEventAttributes_t registered = named(string);
  nvtxDomainMarkEx(domain, &registered);
  nvtxDomainResourceCreate(domain, nullptr);
  nvtxDomainResourceDestroy(nullptr);
  nvtxDomainSyncUserCreate(domain, nullptr);
  nvtxDomainSyncUserDestroy(nullptr);
  nvtxDomainDestroy(domain);
  nvtxDomainDestroy(nullptr);
  nvtxMarkA("the default domain cannot be destroyed");
}

void odd_attributes() {
  nvtxEventAttributes_t event = named("cut off");
  event.category = 5;
  event.size = 8;  // up to the category
  nvtxMarkEx(&event);
  event = named("no size");
  event.size = 0;
  nvtxMarkEx(&event);
  struct Longer {
    nvtxEventAttributes_t event;
    char later[100];
  } longer = {named("a later version"), {}};
  longer.event.version = 99;
  longer.event.size = sizeof longer;
  nvtxMarkEx(&longer.event);
  event = named("types");
  event.colorType = 9;
  event.payloadType = 77;
  event.payload.ullValue = 1;
  nvtxMarkEx(&event);
  event.colorType = 0;
  event.payloadType = 0;
  event.messageType = -4;
  nvtxMarkEx(&event);
}

void handles() {
  nvtxDomainHandle_t one = nvtxDomainCreateA("one");
  nvtxDomainHandle_t two = nvtxDomainCreateA("two");
  nvtxEventAttributes_t event = named(garbage<nvtxStringHandle_t>());
  nvtxDomainMarkEx(one, &event);
  event.message.registered = nvtxDomainRegisterStringA(two, "of two");
  nvtxDomainMarkEx(one, &event);
  nvtxMarkEx(&event);
  event = named("in no domain");
  nvtxDomainMarkEx(garbage<nvtxDomainHandle_t>(), &event);
  nvtxDomainRangePushEx(garbage<nvtxDomainHandle_t>(), &event);
  nvtxDomainRangePop(garbage<nvtxDomainHandle_t>());
  nvtxDomainDestroy(garbage<nvtxDomainHandle_t>());
  nvtxDomainRegisterStringA(garbage<nvtxDomainHandle_t>(), "s");
  nvtxDomainResourceDestroy(garbage<nvtxResourceHandle_t>());
  nvtxDomainSyncUserReleasing(garbage<nvtxSyncUser_t>());
  event = named("after destroy");
  nvtxDomainDestroy(two);
  nvtxDomainDestroy(two);
  nvtxDomainMarkEx(two, &event);
  const nvtxRangeId_t id = nvtxDomainRangeStartEx(one, &event);
  nvtxRangeEnd(id);  // of another domain
  nvtxRangeEnd(id);  // again
  nvtxDomainRangeEnd(one, 0);
  nvtxDomainRangeEnd(one, 123456789);
  nvtxDomainRangePop(one);
}

void text() {
  nvtxMarkA("");
  nvtxMarkA("\x80 \xC3( \xF0\x9F\x98\x80 \xED\xA0\x80 \xFF");
  nvtxMarkA("\"quote\" \\ \n\t\x01\x7F");
  const wchar_t lone[] = {0xD800, L' ', static_cast<wchar_t>(0x7FFFFFFF), 0};
  nvtxMarkW(lone);
  const std::string megabyte(1024 * 1024, 'x');
  nvtxMarkA(megabyte.c_str());
}

void payloads() {
  nvtxEventAttributes_t event = named("payload");
  event.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  event.reserved0 = 1;
  event.payload.ullValue = 0;
  nvtxMarkEx(&event);
  event.payload.ullValue = 0xDEAD;
  nvtxMarkEx(&event);
  event.reserved0 = -1;
  nvtxMarkEx(&event);
  event.reserved0 = 1 << 30;
  nvtxMarkEx(&event);
  const nvtxPayloadData_t data[] = {
      {1, 4, nullptr},
      {2, 0, nullptr},
      {3, 16, garbage<const void*>()},
      {4, unknown_size - 1, "x"},
      {5, unknown_size, "x"},
      {NVTX_PAYLOAD_ENTRY_TYPE_CSTRING, unknown_size, nullptr},
      {NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF16, unknown_size, u"ab"},
      {6, 2, "ok"},
  };
  nvtxMarkPayload(nullptr, data, 8);
  nvtxMarkPayload(nullptr, nullptr, 3);
  nvtxMarkPayload(nullptr, data, unknown_size);
  nvtxEventSubmit(nullptr, nullptr, 1);
  nvtxEventBatchSubmit(nullptr, nullptr);
  nvtxEventBatch_t batch = {};
  batch.size = unknown_size;
  batch.events = data;
  nvtxEventBatchSubmit(nullptr, &batch);
  nvtxRangePopPayload(nullptr, nullptr, 0);
  nvtxRangeEndPayload(nullptr, 99, nullptr, 0);
}

void registrations() {
  nvtxPayloadSchemaRegister(nullptr, nullptr);
  nvtxPayloadSchemaAttr_t schema = {};
  schema.fieldMask = ~0ull;
  schema.name = garbage<const char*>();
  schema.numEntries = unknown_size;
  nvtxPayloadSchemaRegister(nullptr, &schema);
  schema.numEntries = 2;
  schema.schemaId = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START;
  nvtxPayloadSchemaRegister(nullptr, &schema);
  nvtxPayloadEnumRegister(nullptr, nullptr);
  nvtxScopeRegister(nullptr, nullptr);
  nvtxTimeDomainRegister(nullptr, nullptr);
  nvtxTimeSyncPointTable(nullptr, 1, 2, nullptr, 3);
  nvtxTimerSource(nullptr, 0, 0, nullptr);
  nvtxCounterRegister(nullptr, nullptr);
  nvtxSemanticsHeader_t circle = {sizeof circle, 1, 1, &circle};
  nvtxCounterAttr_t counter = {};
  counter.structSize = sizeof counter;
  counter.counterId = NVTX_COUNTER_ID_STATIC_START;
  counter.semantics = &circle;
  nvtxCounterRegister(nullptr, &counter);
  nvtxCounterSample(nullptr, 1, nullptr, 8);
  nvtxCounterSample(nullptr, 1, &counter, unknown_size);
  nvtxCounterBatchSubmit(nullptr, nullptr);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string part = argc > 1 ? argv[1] : "";
  if (part == "nulls") nulls();
  if (part == "attributes") odd_attributes();
  if (part == "handles") handles();
  if (part == "text") text();
  if (part == "payloads") payloads();
  if (part == "registrations") registrations();
  std::puts("done");
}
