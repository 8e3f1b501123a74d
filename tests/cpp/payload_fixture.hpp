// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Schemas, bytes and a decoder for tests of payloads.

#pragma once

#include "core/text/line_buffer.hpp"
#include "trace/payload/payload_decoder.hpp"
#include "trace/sinks/payload_text.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvspan_test {

using namespace nvspan::nvtx::entry_type;
using namespace nvspan::nvtx::entry_flag;
using namespace nvspan::nvtx::schema_type;
using nvspan::trace::PayloadEntry;
using nvspan::trace::PayloadEnum;
using nvspan::trace::PayloadEnumValue;
using nvspan::trace::PayloadPiece;
using nvspan::trace::PayloadResult;
using nvspan::trace::PayloadSchema;

class Names final : public nvspan::trace::PayloadNames {
 public:
  std::string_view string(std::uint64_t, std::uint64_t handle) const override {
    return handle == 77 ? "registered" : std::string_view();
  }
  std::string_view category(std::uint64_t domain, std::uint32_t number) const override {
    return domain == 1 && number == 5 ? "data" : std::string_view();
  }
};

struct Bytes {
  std::string text;

  template <typename T>
  Bytes& add(T value) {
    text.append(reinterpret_cast<const char*>(&value), sizeof value);
    return *this;
  }
  Bytes& add(const char* given, std::size_t size) {
    text.append(given, size);
    return *this;
  }
  Bytes& pad(std::size_t size) {
    text.resize(size, '\0');
    return *this;
  }
};

inline PayloadEntry entry(const char* name, std::uint64_t of, std::uint64_t flags = 0,
                          std::uint64_t detail = 0, std::uint64_t offset = 0) {
  PayloadEntry built;
  if (name != nullptr) built.name = name;
  built.type = of;
  built.flags = flags;
  built.detail = detail;
  built.offset = offset;
  return built;
}

constexpr std::uint64_t base_id = 1 << 24;

// A table with schemas that are numbered as they come, from 0.
struct Fixture {
  nvspan::core::PagePool pool;
  nvspan::trace::SchemaTable table{pool};
  nvspan::trace::PayloadDecoder decoder{table, pool};
  Names names;
  std::uint64_t next = base_id;

  std::uint64_t schema(std::vector<PayloadEntry> entries, std::uint64_t kind = dynamic_schema,
                       std::uint64_t bytes = 0, std::uint64_t flags = 0, std::uint64_t packed = 0) {
    PayloadSchema built;
    built.id = next++;
    built.type = kind;
    built.size = bytes;
    built.flags = flags;
    built.pack = packed;
    built.entries = entries.data();
    built.count = entries.size();
    table.add(1, built);
    return built.id;
  }
  std::uint64_t enumeration(std::vector<PayloadEnumValue> values, std::uint64_t bytes) {
    PayloadEnum built;
    built.id = next++;
    built.size = bytes;
    built.values = values.data();
    built.count = values.size();
    table.add(1, built);
    return built.id;
  }
  std::string read(std::vector<PayloadPiece> pieces, bool own = false) {
    nvspan::core::LineBuffer line(pool);
    nvspan::trace::PayloadJson json(line);
    line.add(' ');
    const PayloadResult result =
        decoder.decode({1, names, json, own}, pieces.data(), pieces.size());
    if (result != PayloadResult::whole) return std::string(payload_result_text(result));
    return std::string(line.data() + 1, line.size() - 1);
  }
  std::string read(std::uint64_t schema, const Bytes& bytes, bool own = false) {
    return read({PayloadPiece{schema, bytes.text}}, own);
  }
};

}  // namespace nvspan_test
