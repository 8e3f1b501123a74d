// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Reading the structs of NVTX's extensions. Their pointers and counts are not trusted: a program
// built against another version of an extension may mean something else by them.

#pragma once

#include "inject/decode/call.hpp"
#include "inject/decode/nvtx_types.hpp"
#include "inject/decode/safe_memory.hpp"
#include "trace/payload/payload_decoder.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::inject {

constexpr std::size_t most_entries = 4096;
constexpr std::size_t most_raw_bytes = 1024 * 1024;

std::string_view kept_text(Call& call, const char* text);  // absent for a null pointer

// Adds the field "size", and `key` with the bytes, or with null and a field "error". The bytes
// kept.
std::string_view add_raw(Call& call, const char* key, const void* data, std::size_t size);

// Every struct of a semantics chain with its bytes.
trace::Field semantics_field(Call& call, const nvtxSemanticsHeader_t* first);

// Null, with a field "entries_error", when the structs cannot be copied; `count` is then 0.
template <typename Struct>
const Struct* read_array(Call& call, const Struct* from, std::size_t& count) {
  const char* error = nullptr;
  Struct* copy = nullptr;
  if (count > most_entries) {
    error = "too many";
  } else if (count != 0) {
    copy = call.scratch.arena.array<Struct>(count);
    if (!read_memory(from, copy, count * sizeof(Struct))) {
      error = from == nullptr ? "null" : "unreadable";
    }
  }
  if (error == nullptr) return copy;
  call.add(trace::Field::count("entries_given", count));
  call.add(trace::Field::string("entries_error", error));
  count = 0;
  return nullptr;
}

// A field "error" where the struct cannot be copied; then it is false.
template <typename Struct>
bool read_struct(Call& call, const Struct* from, Struct& out) {
  const bool is_read = read_memory(from, &out, sizeof out);
  if (!is_read) call.add(trace::Field::string("error", from == nullptr ? "null" : "unreadable"));
  return is_read;
}

// Copies a struct that says itself how large the program's version of it is.
template <typename Struct, typename Size>
Struct read_sized(Call& call, const Struct* from, Size Struct::* size) {
  Struct out = {};
  if (from == nullptr) {
    call.add(trace::Field::string("error", "null"));
    return out;
  }
  Struct probe = {};
  std::size_t given = sizeof(Struct);
  if (read_memory(&(from->*size), &(probe.*size), sizeof(Size))) {
    const auto declared = static_cast<std::size_t>(probe.*size);
    if (declared < given) given = declared;
  }
  if (!read_memory(from, &out, given)) call.add(trace::Field::string("error", "unreadable"));
  return out;
}

// Schemas and enumerations as programs register them, and what an event's payload says of the event
// itself.

// `fields` is a schema's "entries" as the trace shows them, of the same length.
void keep_schema(Call& call, const DomainView& domain, const trace::PayloadSchema& schema,
                 const nvtxPayloadSchemaEntry_t* entries, const trace::Field* fields,
                 std::size_t count);

// The first semantics of a chain that says it.
std::uint64_t time_domain_of(const nvtxSemanticsHeader_t* semantics);
trace::CounterUnit counter_unit_of(Call& call, const nvtxSemanticsHeader_t* semantics);

// The message, category and color in an extended payload: they count for more than the attributes.
void take_attributes(Call& call, const DomainView& domain, trace::Event& event);

}  // namespace nvspan::inject
