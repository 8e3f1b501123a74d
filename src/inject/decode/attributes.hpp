// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Reading what programs pass to NVTX, however malformed, into an Event.

#pragma once

#include "inject/decode/call.hpp"
#include "inject/decode/nvtx_types.hpp"
#include "trace/event/event.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace nvspan::inject {

inline std::string_view to_text(Call&, const char* text) {
  return text == nullptr ? std::string_view() : std::string_view(text);
}
std::string_view to_text(Call& call, const wchar_t* text);

// Attributes may be null, cut short or of a later version: what is there is used, and a field
// "malformed" says what was wrong.
void read_attributes(Call& call, const DomainView& domain, const nvtxEventAttributes_t* attributes,
                     trace::Event& event);

void read_message(Call& call, const DomainView& domain, std::int32_t type,
                  const nvtxMessageValue_t& value, trace::Event& event);

// An extended payload: a bounded copy of each piece's bytes.
void read_payloads(Call& call, const DomainView& domain, const nvtxPayloadData_t* pieces,
                   std::size_t count, trace::Event& event);

void add_malformed(Call& call, const char* part, std::int64_t value);
void add_malformed_field(Call& call);  // once, after everything was read

// As much of the attributes as their own size says.
template <typename Attributes>
Attributes read_given(Call& call, const Attributes* from) {
  Attributes read = {};
  if (from == nullptr) return read;
  if (from->size >= sizeof read) return *from;
  std::memcpy(&read, from, from->size);
  add_malformed(call, "size", from->size);
  return read;
}

}  // namespace nvspan::inject
