// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Payloads as libraries send them: a struct with an enumeration, as NCCL does, structs in structs,
// parts of a length of their own, unions, several pieces, and schemas that no payload can have. A
// forked child sends one of them again. With an argument: deferred events of a length of their own.

#include <nvtx3/nvToolsExtCounters.h>
#include <nvtx3/nvToolsExtPayload.h>
#include <nvtx3/nvToolsExtPayloadHelper.h>
#include <nvtx3/nvToolsExtSemanticsCounters.h>

#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t op_id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 7;

struct Collective {
  std::uint64_t comm;
  std::size_t bytes;
  std::uint32_t op;
};

nvtxPayloadSchemaEntry_t entry(std::uint64_t type, const char* name, std::uint64_t flags = 0,
                               std::uint64_t detail = 0, std::uint64_t offset = 0) {
  nvtxPayloadSchemaEntry_t made = {};
  made.flags = flags;
  made.type = type;
  made.name = name;
  made.arrayOrUnionDetail = detail;
  made.offset = offset;
  return made;
}

std::uint64_t schema(nvtxDomainHandle_t domain, std::uint64_t type,
                     const std::vector<nvtxPayloadSchemaEntry_t>& entries, std::size_t size = 0,
                     std::uint64_t id = 0, std::uint64_t flags = 0) {
  nvtxPayloadSchemaAttr_t made = {};
  made.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES |
                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE |
                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  made.type = type;
  made.flags = flags;
  made.entries = entries.data();
  made.numEntries = entries.size();
  made.payloadStaticSize = size;
  made.schemaId = id;
  return nvtxPayloadSchemaRegister(domain, &made);
}

void mark(nvtxDomainHandle_t domain, const char* name,
          const std::vector<nvtxPayloadData_t>& pieces) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = sizeof attributes;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = static_cast<std::int32_t>(pieces.size());
  attributes.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(pieces.data());
  nvtxDomainMarkEx(domain, &attributes);
}

template <typename T>
void add(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void send_deferred(nvtxDomainHandle_t domain) {
  const std::uint64_t event = schema(
      domain, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, "name",
             NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED | NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "begin", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_BEGIN),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "end", NVTX_PAYLOAD_ENTRY_FLAG_RANGE_END),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "n")},
      0, 0, NVTX_PAYLOAD_SCHEMA_FLAG_RANGE_STARTEND);
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
  const nvtxPayloadEnum_t ops[] = {{"sum", 0, 0}, {"max", 2, 0}};
  nvtxPayloadEnumAttr_t op = {};
  op.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                 NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID;
  op.entries = ops;
  op.numEntries = 2;
  op.sizeOfEnum = sizeof(std::uint32_t);
  op.schemaId = op_id;
  nvtxPayloadEnumRegister(domain, &op);
  const std::uint64_t collective =
      schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
             {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "comm"),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_SIZE, "bytes", 0, 0, offsetof(Collective, bytes)),
              entry(op_id, "op", 0, 0, offsetof(Collective, op))},
             sizeof(Collective), NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 8);
  const Collective reduce = {0xABCDEF0123456789, 1 << 20, 2};
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = sizeof attributes;
  attributes.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  attributes.message.registered = nvtxDomainRegisterStringA(domain, "AllReduce");
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
  const std::uint64_t shape =
      schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
             {entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, "name", 0, 8),
              entry(point_schemaId, "corners", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 2),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "tags")},
             sizeof(Shape));
  Shape square = {"square", {{1, 0.5}, {-2, 1.5}}, 3};
  mark(domain, "nested", {{shape, sizeof square, &square}});

  // Of a length of its own, with a piece of a predefined type beside it.
  const std::uint64_t words = schema(
      domain, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "count", NVTX_PAYLOAD_ENTRY_FLAG_HIDE),
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

  const std::uint64_t number = schema(
      domain, NVTX_PAYLOAD_SCHEMA_TYPE_UNION,
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "i"), entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "f")}, 8);
  const std::uint64_t either =
      schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
             {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "which"), entry(number, "number", 0, 0, 8)}, 16);
  std::string chosen;
  add(chosen, std::uint64_t{1});
  add(chosen, 0.25);
  mark(domain, "union", {{either, chosen.size(), chosen.data()}});

  // The name, a category and a color in the payload.
  nvtxDomainNameCategoryA(domain, 4, "io");
  struct Named {
    nvtxStringHandle_t name;
    std::uint32_t category;
    std::uint32_t color;
    std::int32_t step;
  };
  const std::uint64_t named =
      schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
             {entry(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "name",
                    NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "kind"),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, "color", NVTX_PAYLOAD_ENTRY_FLAG_HIDE),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "step")},
             sizeof(Named));
  const Named read = {nvtxDomainRegisterStringA(domain, "read"), 4, 0xFF102030, 11};
  const nvtxPayloadData_t piece = {named, sizeof read, &read};
  nvtxRangePushPayload(domain, &piece, 1);
  nvtxRangePopPayload(domain, nullptr, 0);

  // What nobody can read: too short, of itself, of endless length, never registered, too large.
  mark(domain, "short", {{collective, 4, &reduce}});
  constexpr std::uint64_t own = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 9;
  const nvtxPayloadSchemaEntry_t one = entry(NVTX_PAYLOAD_ENTRY_TYPE_INT8, "x");
  schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, {one}, 8, own);
  schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, {entry(own, "x"), entry(own, "y")}, 8, own);
  mark(domain, "itself", {{own, 8, &reduce}});
  const std::uint64_t nothing = schema(
      domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "x", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 0)});
  const std::uint64_t endless =
      schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
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
  counter.schemaId = schema(domain, NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, parts, 8);
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
