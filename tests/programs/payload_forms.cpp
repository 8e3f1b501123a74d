// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Payloads of libraries, each in a run of its own: 1 a struct with an enumeration, 2 structs within
// a struct, 3 a length of its own and a second piece, 4 a union, 5 name, category and color,
// 6 a registered string, 7 a plain payload of every type.

#include "payloads.hpp"

#include <cstddef>
#include <cstdlib>

namespace {

constexpr std::uint64_t op_id = NVTX_PAYLOAD_SCHEMA_ID_STATIC_START + 7;
nvtxDomainHandle_t domain;

void enumeration() {
  register_operations(domain, op_id);
  struct Collective {
    std::uint64_t comm;
    std::uint64_t bytes;
    std::uint32_t op;
  };
  const std::uint64_t collective = register_schema(
      domain, {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(Collective), op_id + 1, 0, "collective"},
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "comm"),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "bytes", 0, 0, offsetof(Collective, bytes)),
       entry(op_id, "op", 0, 0, offsetof(Collective, op))});
  const Collective reduce = {0x1BCDEF0123456789, 1 << 20, 2};
  const nvtxPayloadData_t piece = {collective, sizeof reduce, &reduce};
  const nvtxEventAttributes_t attributes = with_payload(named("AllReduce"), &piece, 1);
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
      register_schema(domain, {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(Point), 0, 0, "point"},
                      {entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "x"),
                       entry(NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, "y", 0, 0, offsetof(Point, y))});
  const std::uint64_t shape =
      register_schema(domain, {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(Shape), 0, 0, "shape"},
                      {entry(NVTX_PAYLOAD_ENTRY_TYPE_CSTRING_UTF8, "name", 0, 8),
                       entry(point, "corners", NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE, 2,
                             offsetof(Shape, corners)),
                       entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT8, "tags", 0, 0, offsetof(Shape, tags))});
  const Shape square = {"square", {{1, 0.5}, {-2, 1.5}}, 3};
  mark(domain, "nested", {{shape, sizeof square, &square}});
}

void dynamic() { mark_dynamic(domain, 0); }

void either() { mark_union(domain); }

void own_name() {
  nvtxDomainNameCategoryA(domain, 4, "io");
  struct Named {
    nvtxStringHandle_t name;
    std::uint32_t category;
    std::uint32_t color;
    std::int32_t step;
  };
  const std::uint64_t made = register_schema(
      domain, {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(Named)},
      {entry(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "name",
             NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_CATEGORY, "kind", 0, 0, offsetof(Named, category)),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_COLOR_ARGB, "color", 0, 0, offsetof(Named, color)),
       entry(NVTX_PAYLOAD_ENTRY_TYPE_INT32, "step", 0, 0, offsetof(Named, step))});
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
      register_schema(domain, {NVTX_PAYLOAD_SCHEMA_TYPE_STATIC, sizeof(Cited)},
                      {entry(NVTX_PAYLOAD_ENTRY_TYPE_NVTX_REGISTERED_STRING_HANDLE, "text"),
                       entry(NVTX_PAYLOAD_ENTRY_TYPE_UINT64, "n", 0, 0, 8)});
  const Cited cited = {nvtxDomainRegisterStringA(domain, "cited text"), 7};
  mark(domain, "registered", {{made, sizeof cited, &cited}});
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
