// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/perfetto_payload.hpp"

#include <string>

namespace nvspan {
namespace {

// DebugAnnotation
constexpr unsigned uint_value = 3;
constexpr unsigned int_value = 4;
constexpr unsigned double_value = 5;
constexpr unsigned string_value = 6;
constexpr unsigned own_name = 10;
constexpr unsigned dict_entries = 11;
constexpr unsigned array_values = 12;

ProtoBytes named(std::string_view name) {
  ProtoBytes made;
  if (name.data() != nullptr) made.text(own_name, name);
  return made;
}

std::string hex_of(std::string_view bytes) {
  constexpr char digits[] = "0123456789abcdef";
  std::string made;
  for (const char byte : bytes) {
    made += digits[static_cast<unsigned char>(byte) >> 4];
    made += digits[static_cast<unsigned char>(byte) & 15];
  }
  return made;
}

}  // namespace

void AnnotatedFields::add(const ProtoBytes& entry) {
  Open& into = open_.back();
  into.bytes.message(into.is_list ? array_values : dict_entries, entry);
}

bool AnnotatedFields::value(std::string_view name, const PayloadValue& value) {
  if (++values_ > most_values) return true;
  ProtoBytes made = named(name);
  if (values_ == most_values) {
    made.text(string_value, "...");
  } else if (value.label.data() != nullptr) {
    made.text(string_value, value.label);
  } else {
    switch (value.kind) {
      case PayloadValue::Kind::integer:
        made.number(int_value, static_cast<std::uint64_t>(value.integer));
        break;
      case PayloadValue::Kind::count:
        made.number(uint_value, value.count);
        break;
      case PayloadValue::Kind::real:
        made.real(double_value, value.real);
        break;
      case PayloadValue::Kind::text:
        made.text(string_value, value.text);
        break;
      case PayloadValue::Kind::bytes:
        made.text(string_value, hex_of(value.text.substr(0, most_values)));
        break;
    }
  }
  add(made);
  return true;
}

bool AnnotatedFields::begin(std::string_view name, bool is_list) {
  open_.push_back(Open{values_ < most_values ? named(name) : ProtoBytes(), is_list});
  return true;
}

bool AnnotatedFields::end(bool) {
  const ProtoBytes made = std::move(open_.back().bytes);
  open_.pop_back();
  if (!made.empty()) add(made);
  return true;
}

}  // namespace nvspan
