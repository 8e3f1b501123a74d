// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/decode/extension_data.hpp"

#include <nvtx3/nvToolsExtSemanticsCounters.h>

namespace nvspan::inject {
namespace {

constexpr std::size_t most_text = 64 * 1024;
constexpr std::size_t most_semantics_bytes = 1024;

// Absent when it is not readable.
std::string_view kept_bytes(Call& call, const void* data, std::size_t size) {
  char* copy = call.scratch.arena.bytes(size);
  return read_memory(data, copy, size) ? std::string_view(copy, size) : std::string_view();
}

// Absent where it is no counter's, or has none.
std::string_view unit_of(Call& call, const nvtxSemanticsHeader_t& header,
                         const nvtxSemanticsHeader_t* at) {
  nvtxSemanticsCounter_t counter = {};
  if (header.semanticId != NVTX_SEMANTIC_ID_COUNTERS_V1 || header.structSize < sizeof counter ||
      !read_memory(reinterpret_cast<const nvtxSemanticsCounter_t*>(at), &counter, sizeof counter)) {
    return {};
  }
  return kept_text(call, counter.unit);
}

}  // namespace

std::string_view kept_text(Call& call, const char* text) {
  core::PoolString& out = call.scratch.text;
  switch (read_string(text, most_text, out)) {
    case StringStatus::absent:
      return {};
    case StringStatus::unreadable:
      return "<unreadable>";
    default:
      return call.scratch.arena.copy(out);
  }
}

std::string_view add_raw(Call& call, const char* key, const void* data, std::size_t size) {
  call.add(trace::Field::count("size", size));
  std::string_view copy;
  const char* error = "too large";
  if (size <= most_raw_bytes) {
    copy = kept_bytes(call, data, size);
    error = data == nullptr ? "null" : "unreadable";
  }
  call.add(trace::Field::bytes(key, copy));
  if (copy.data() == nullptr) call.add(trace::Field::string("error", error));
  return copy;
}

trace::Field semantics_field(Call& call, const nvtxSemanticsHeader_t* first) {
  constexpr std::size_t members = 4;
  trace::Field* list = nullptr;
  std::size_t count = 0;
  for (const auto* at = first; at != nullptr && count < most_semantics; ++count) {
    nvtxSemanticsHeader_t header = {};
    if (!read_memory(at, &header, sizeof header)) break;
    std::string_view raw;
    if (header.structSize <= most_semantics_bytes) raw = kept_bytes(call, at, header.structSize);
    trace::Field* fields = call.scratch.arena.array<trace::Field>(members);
    fields[0] = trace::Field::count("id", header.semanticId);
    fields[1] = trace::Field::count("version", header.version);
    fields[2] = trace::Field::bytes("hex", raw);
    if (list == nullptr) list = call.scratch.arena.array<trace::Field>(most_semantics);
    fields[3] = trace::Field::string("unit", unit_of(call, header, at));
    const bool has_unit = fields[3].text.data() != nullptr;
    list[count] = trace::Field::object(nullptr, fields, has_unit ? members : members - 1);
    at = header.next;
  }
  return trace::Field::list("semantics", list, count);
}

}  // namespace nvspan::inject
