// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Payloads of libraries, each in a run of its own: 1 a struct with an enumeration, 2 structs within
// a struct, 3 a length of its own and a second piece, 4 a union, 5 name, category and color,
// 6 a registered string, 7 a plain payload of every type.

#include <nvtx3/nvToolsExtPayload.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

namespace {

constexpr std::uint64_t op_id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 7;
nvtxDomainHandle_t domain;

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

std::uint64_t schema(std::uint64_t type, const std::vector<nvtxPayloadSchemaEntry_t>& entries,
                     std::size_t size = 0, const char* name = nullptr, std::uint64_t id = 0) {
  nvtxPayloadSchemaAttr_t made = {};
  made.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE | NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                   NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  if (size != 0) made.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
  if (name != nullptr) made.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME;
  if (id != 0) made.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_SCHEMA_ID;
  made.name = name;
  made.type = type;
  made.entries = entries.data();
  made.numEntries = entries.size();
  made.payloadStaticSize = size;
  made.schemaId = id;
  return nvtxPayloadSchemaRegister(domain, &made);
}

nvtxEventAttributes_t named(const char* name) {
  nvtxEventAttributes_t attributes = {};
  attributes.version = NVTX_VERSION;
  attributes.size = sizeof attributes;
  attributes.messageType = NVTX_MESSAGE_TYPE_ASCII;
  attributes.message.ascii = name;
  return attributes;
}

void mark(const char* name, const std::vector<nvtxPayloadData_t>& pieces) {
  nvtxEventAttributes_t attributes = named(name);
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = static_cast<std::int32_t>(pieces.size());
  attributes.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(pieces.data());
  nvtxDomainMarkEx(domain, &attributes);
}

template <typename T>
void add(std::string& bytes, T value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

void enumeration() {
  const nvtxPayloadEnum_t ops[] = {{"sum", 0, 0}, {"max", 2, 0}};
  nvtxPayloadEnumAttr_t op = {};
  op.fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES | NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                 NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE | NVTX_PAYLOAD_ENUM_ATTR_FIELD_SCHEMA_ID |
                 NVTX_PAYLOAD_ENUM_ATTR_FIELD_NAME;
  op.name = "operation";
  op.entries = ops;
  op.numEntries = 2;
  op.sizeOfEnum = sizeof(std::uint32_t);
  op.schemaId = op_id;
  nvtxPayloadEnumRegister(domain, &op);
  struct Collective {
    std::uint64_t comm;
    std::uint64_t bytes;
    std::uint32_t op;
  };
  const std::uint64_t collective =
      schema(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
             {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "comm"),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", 0, 0, offsetof(Collective, bytes)),
              entry(op_id, "op", 0, 0, offsetof(Collective, op))},
             sizeof(Collective), "collective", op_id + 1);
  const Collective reduce = {0x1BCDEF0123456789, 1 << 20, 2};
  nvtxEventAttributes_t attributes = named("AllReduce");
  const nvtxPayloadData_t piece = {collective, sizeof reduce, &reduce};
  attributes.payloadType = NVTX_PAYLOAD_TYPE_EXT;
  attributes.reserved0 = 1;
  attributes.payload.ullValue = NVTX_POINTER_AS_PAYLOAD_ULLVALUE(&piece);
  nvtxDomainRangePushEx(domain, &attributes);
  nvtxDomainRangePop(domain);
}

void nested() {
  struct Point {
    std::int32_t x;
    double y;
  };
  struct Shape {
    char name[8];
    Point corners[2];
    std::uint8_t tags;
  };
  const std::uint64_t point =
      schema(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
             {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "x"),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "y", 0, 0, offsetof(Point, y))},
             sizeof(Point), "point");
  const std::uint64_t shape =
      schema(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
             {entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, "name", 0, 8),
              entry(point, "corners", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 2,
                    offsetof(Shape, corners)),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "tags", 0, 0, offsetof(Shape, tags))},
             sizeof(Shape), "shape");
  const Shape square = {"square", {{1, 0.5}, {-2, 1.5}}, 3};
  mark("nested", {{shape, sizeof square, &square}});
}

void dynamic() {
  const std::uint64_t words = schema(
      NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC,
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT32, "count"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT16, "sizes", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_LENGTH_INDEX, 0),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, "text",
             NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_ZERO_TERMINATED)});
  std::string bytes;
  add(bytes, std::uint32_t{3});
  for (const std::int16_t size : {1, -2, 300}) add(bytes, size);
  bytes.append("h\xc3\xa9", 4);
  const double more = 2.5;
  mark("dynamic",
       {{words, bytes.size(), bytes.data()}, {NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, sizeof more, &more}});
}

void either() {
  const std::uint64_t number = schema(
      NVTX_PAYLOAD_SCHEMA_TYPE_UNION,
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT64, "i"), entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "f")}, 8);
  const std::uint64_t made =
      schema(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
             {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "which"), entry(number, "number", 0, 0, 8)}, 16);
  std::string chosen;
  add(chosen, std::uint64_t{1});
  add(chosen, 0.25);
  mark("union", {{made, chosen.size(), chosen.data()}});
}

void own_name() {
  nvtxDomainNameCategoryA(domain, 4, "io");
  struct Named {
    nvtxStringHandle_t name;
    std::uint32_t category;
    std::uint32_t color;
    std::int32_t step;
  };
  const std::uint64_t made =
      schema(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
             {entry(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "name",
                    NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "kind", 0, 0, offsetof(Named, category)),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, "color", 0, 0, offsetof(Named, color)),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "step", 0, 0, offsetof(Named, step))},
             sizeof(Named));
  const Named read = {nvtxDomainRegisterStringA(domain, "read"), 4, 0xFF102030, 11};
  const nvtxPayloadData_t piece = {made, sizeof read, &read};
  nvtxRangePushPayload(domain, &piece, 1);
  nvtxRangePop();
  nvtxDomainRangePop(domain);
}

void registered() {
  struct Cited {
    nvtxStringHandle_t text;
    std::uint64_t n;
  };
  const std::uint64_t made =
      schema(NVTX_PAYLOAD_SCHEMA_TYPE_STATIC,
             {entry(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "text"),
              entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "n", 0, 0, 8)},
             sizeof(Cited));
  const Cited cited = {nvtxDomainRegisterStringA(domain, "cited text"), 7};
  mark("registered", {{made, sizeof cited, &cited}});
}

void plain() {
  const std::int32_t types[] = {NVTX_PAYLOAD_TYPE_UNSIGNED_INT64, NVTX_PAYLOAD_TYPE_INT64,
                                NVTX_PAYLOAD_TYPE_DOUBLE,         NVTX_PAYLOAD_TYPE_UNSIGNED_INT32,
                                NVTX_PAYLOAD_TYPE_INT32,          NVTX_PAYLOAD_TYPE_FLOAT};
  for (const std::int32_t type : types) {
    nvtxEventAttributes_t attributes = named("plain");
    attributes.payloadType = type;
    if (type == NVTX_PAYLOAD_TYPE_DOUBLE)
      attributes.payload.dValue = -0.5;
    else if (type == NVTX_PAYLOAD_TYPE_FLOAT)
      attributes.payload.fValue = -0.25f;
    else
      attributes.payload.llValue = -5;
    nvtxDomainMarkEx(domain, &attributes);
  }
}

}  // namespace

int main(int argc, char** argv) {
  domain = nvtxDomainCreateA("lib");
  void (*const runs[])() = {enumeration, nested, dynamic, either, own_name, registered, plain};
  for (int i = 1; i < argc; ++i) runs[std::atoi(argv[i]) - 1]();
}
