// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Payloads as libraries send them: a struct with an enumeration, as NCCL does, structs in structs,
// parts of a length of their own, unions, several pieces, and schemas that no payload can have. A
// forked child sends one of them again. With an argument: deferred events of a length of their own.

#include "payloads.hpp"

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayloadHelper.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstring>

namespace {

constexpr std::uint64_t op_id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 7;

struct Collective {
  std::uint64_t comm;
  std::size_t bytes;
  std::uint32_t op;
};

void send_deferred(nvtxDomainHandle_t domain) {
  const std::uint64_t event = register_schema(
      domain, {NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC, 0, 0, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND},
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, "name",
             NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED | NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "begin", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "n")});
  std::string bytes;
  const std::int64_t now = nvtxTimestampGet();
  for (const char* name : {"first", "a longer one"}) {
    // Fields are aligned within their own event.
    std::string made(name, std::strlen(name) + 1);
    made.resize((made.size() + 7) / 8 * 8);
    add(made, now);
    add(made, now + 1000);
    made.push_back(static_cast<char>(std::strlen(name)));
    bytes += made;
  }
  nvtxEventBatch_t batch = {};
  batch.eventSchemaId = event;
  batch.size = bytes.size();
  batch.events = bytes.data();
  nvtxEventBatchSubmit(domain, &batch);
}

}  // namespace

int main(int argc, char**) {
  nvtxDomainHandle_t domain = nvtxDomainCreateA("lib");
  if (argc > 1) {
    send_deferred(domain);
    return 0;
  }

  // As NCCL: static, with an enumeration of its own number.
  register_operations(domain, op_id);
  const std::uint64_t collective = register_schema(
      domain,
      {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(Collective),
       NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 8},
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "comm"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "bytes", 0, 0, offsetof(Collective, bytes)),
       entry(op_id, "op", 0, 0, offsetof(Collective, op))});
  const Collective reduce = {0xABCDEF0123456789, 1 << 20, 2};
  nvtxEventAttributes_t attributes = named(nvtxDomainRegisterStringA(domain, "AllReduce"));
  nvtxPayloadRangePush(domain, &attributes, collective, &reduce, sizeof reduce);
  nvtxDomainRangePop(domain);

  // The helpers' macros, with text and a part that has a schema of its own.
  NVTX_DEFINE_STRUCT_WITH_SCHEMA_AND_REGISTER(
      domain, point, "point",
      NVTX_PAYLOAD_ENTRIES((int, x, TYPE_INT, "x"), (double, y, TYPE_DOUBLE, "y")))
  struct Shape {
    char name[8];
    point corners[2];
    std::uint8_t tags;
  };
  const std::uint64_t shape = register_schema(
      domain, {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(Shape)},
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, "name", 0, 8),
       entry(point_schemaId, "corners", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 2),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "tags")});
  Shape square = {"square", {{1, 0.5}, {-2, 1.5}}, 3};
  mark(domain, "nested", {{shape, sizeof square, &square}});

  mark_dynamic(domain, NVTX_PAYLOAD_ENTRY_FLAG_HIDE);
  mark_union(domain);

  // The name, a category and a color in the payload.
  nvtxDomainNameCategoryA(domain, 4, "io");
  struct Named {
    nvtxStringHandle_t name;
    std::uint32_t category;
    std::uint32_t color;
    std::int32_t step;
  };
  const std::uint64_t named = register_schema(
      domain, {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(Named)},
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "name",
             NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "kind"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, "color", NVTX_PAYLOAD_ENTRY_FLAG_HIDE),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "step")});
  const Named read = {nvtxDomainRegisterStringA(domain, "read"), 4, 0xFF102030, 11};
  const nvtxPayloadData_t piece = {named, sizeof read, &read};
  nvtxRangePushPayload(domain, &piece, 1);
  nvtxRangePopPayload(domain, nullptr, 0);

  // What nobody can read: too short, of itself, of endless length, never registered, too large.
  mark(domain, "short", {{collective, 4, &reduce}});
  constexpr std::uint64_t own = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 9;
  const nvtxPayloadSchemaEntry_t one = entry(NVTX_PAYLOAD_ENTRY_TYPE_INT8, "x");
  register_schema(domain, {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 8, own}, {one});
  register_schema(domain, {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 8, own},
                  {entry(own, "x"), entry(own, "y")});
  mark(domain, "itself", {{own, 8, &reduce}});
  const std::uint64_t nothing = register_schema(
      domain, {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC},
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "x", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 0)});
  const std::uint64_t endless = register_schema(
      domain, {NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC},
      {entry(nothing, "x", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, ~std::uint64_t{0})});
  mark(domain, "endless", {{endless, 8, &reduce}});
  mark(domain, "unknown", {{NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 99, 8, &reduce}});
  const std::vector<char> large(2 << 20);
  mark(domain, "large", {{NVTX_TYPE_PAYLOAD_SCHEMA_RAW, large.size(), large.data()}});

  // A group of counters: one with a unit of its own.
  nvtxSemanticsCounter_t unit = {};
  unit.header = {sizeof unit, NVTX_SEMANTIC_ID_COUNTERS_V1, NVTX_COUNTER_SEMANTIC_VERSION, nullptr};
  unit.unit = "MiB";
  std::vector<nvtxPayloadSchemaEntry_t> parts = {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "used"),
                                                 entry(NVTX_PAYLOAD_ENTRY_TYPE_FLOAT, "load")};
  parts[0].semantics = &unit.header;
  nvtxCounterAttr_t counter = {};
  counter.structSize = sizeof counter;
  counter.schemaId = register_schema(domain, {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, 8}, parts);
  counter.name = "device";
  const std::uint64_t device = nvtxCounterRegister(domain, &counter);
  struct {
    std::uint32_t used;
    float load;
  } sample = {80, 0.5f};
  nvtxCounterSample(domain, device, &sample, sizeof sample);
  nvtxCounterSample(domain, device, &sample, 3);

  const pid_t child = fork();
  if (child == 0) {
    mark(domain, "in the child", {{collective, sizeof reduce, &reduce}});
    _exit(0);
  }
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}
