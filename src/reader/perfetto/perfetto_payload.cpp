// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/perfetto/perfetto_payload.hpp"

#include "reader/perfetto/perfetto_fields.hpp"
#include "reader/perfetto/perfetto_stream.hpp"
#include "trace/payload/payload.hpp"

#include <algorithm>
#include <string>
#include <type_traits>

namespace nvspan::reader {
namespace {

using namespace perfetto::debug_annotation;

ProtoBytes named(std::string_view given) {
  ProtoBytes bytes;
  if (given.data() != nullptr) bytes.text(name, given);
  return bytes;
}

std::string hex_of(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string hex;
  for (const char byte : bytes) {
    hex += digits[static_cast<unsigned char>(byte) >> 4];
    hex += digits[static_cast<unsigned char>(byte) & 15];
  }
  return hex;
}

}  // namespace

void AnnotatedFields::add(const ProtoBytes& entry) {
  Open& into = open_.back();
  into.bytes.message(into.is_list ? array_values : dict_entries, entry);
}

bool AnnotatedFields::value(std::string_view name, const trace::PayloadValue& value) {
  if (++values_ > most_values) return true;
  ProtoBytes annotation = named(name);
  if (values_ == most_values) {
    annotation.text(string_value, "...");
  } else if (value.label.data() != nullptr) {
    annotation.text(string_value, value.label);
  } else {
    switch (value.kind) {
      case trace::PayloadValue::Kind::integer:
        annotation.number(int_value, static_cast<std::uint64_t>(value.integer));
        break;
      case trace::PayloadValue::Kind::count:
        annotation.number(uint_value, value.count);
        break;
      case trace::PayloadValue::Kind::real:
        annotation.real(double_value, value.real);
        break;
      case trace::PayloadValue::Kind::text:
        annotation.text(string_value, value.text);
        break;
      case trace::PayloadValue::Kind::bytes:
        annotation.text(string_value, hex_of(value.text.substr(0, most_values)));
        break;
    }
  }
  add(annotation);
  return true;
}

bool AnnotatedFields::begin(std::string_view name, bool is_list) {
  open_.push_back(Open{values_ < most_values ? named(name) : ProtoBytes(), is_list});
  return true;
}

bool AnnotatedFields::end(bool) {
  const ProtoBytes bytes = std::move(open_.back().bytes);
  open_.pop_back();
  if (!bytes.empty()) add(bytes);
  return true;
}

void add_plain_payload(ProtoBytes& event, std::uint8_t type, const EntryPayload& payload) {
  if (!payload.present) return;
  const auto add = [&](auto value) {
    using Value = decltype(value);
    using Wide = std::conditional_t<
        std::is_floating_point_v<Value>, double,
        std::conditional_t<std::is_signed_v<Value>, std::int64_t, std::uint64_t>>;
    add_annotation(event, ArgumentName::payload, static_cast<Wide>(value));
  };
  if (trace::use_scalar(static_cast<trace::PayloadType>(type), payload.bits, add)) return;
  if (payload.bytes == nullptr) return;
  constexpr std::uint64_t most_shown = 64;
  std::string text = std::to_string(payload.bits) + " bytes:";
  const std::string_view bytes(reinterpret_cast<const char*>(payload.bytes),
                               static_cast<std::size_t>(std::min(payload.bits, most_shown)));
  for (std::size_t i = 0; i < bytes.size(); i += 8) (text += ' ') += hex_of(bytes.substr(i, 8));
  add_annotation(event, ArgumentName::payload, std::string_view(text));
}

}  // namespace nvspan::reader
