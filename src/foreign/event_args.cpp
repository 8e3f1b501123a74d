// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "foreign/event_args.hpp"
#include "core/key_order.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::foreign {
namespace {

// Without a part of a character of UTF-8 at its end.
std::string_view cut(std::string_view text, std::size_t most) {
  std::size_t size = most;
  while (size != 0 && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80) --size;
  return text.substr(0, size);
}

}  // namespace

bool EventArgs::begin_field(std::string_view name, ArgType type) {
  if (fields_ == most_fields) return false;
  ++fields_;
  const auto size = static_cast<std::uint32_t>(name.size());
  key_.append(reinterpret_cast<const char*>(&size), sizeof size);
  key_.append(name);
  key_ += static_cast<char>(type);
  return true;
}

bool EventArgs::add(std::string_view name, std::int64_t value) {
  const auto small = static_cast<std::int32_t>(value);
  if (!begin_field(name, small == value ? ArgType::small : ArgType::integer)) return false;
  if (small == value)
    small_.push_back(small);
  else
    numbers_.push_back(static_cast<std::uint64_t>(value));
  return true;
}

bool EventArgs::add(std::string_view name, double value) {
  if (!begin_field(name, ArgType::real)) return false;
  std::uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  numbers_.push_back(bits);
  return true;
}

bool EventArgs::add(std::string_view name, std::string_view value) {
  if (!begin_field(name, ArgType::text)) return false;
  const bool fits = value.size() <= most_text;
  if (!fits) value = cut(value, most_text);
  const std::size_t zero = std::min(value.find('\0'), value.size());
  texts_.append(value.substr(0, zero));
  texts_ += '\0';
  return fits && zero == value.size();
}

std::uint32_t EventArgs::form() {
  if (fields_ == 0) return no_form;
  const auto known = numbers_of_forms_.find(key_);
  if (known != numbers_of_forms_.end()) return known->second;
  if (forms_.size() == most_forms) return no_form;
  std::vector<ArgField> fields;
  for (std::size_t at = 0; at < key_.size();) {
    std::uint32_t size = 0;
    std::memcpy(&size, key_.data() + at, sizeof size);
    at += sizeof size;
    fields.push_back({key_.substr(at, size), static_cast<ArgType>(key_[at + size])});
    at += size + 1;
  }
  core::stable_sort_by(fields.begin(), fields.end(), [](const ArgField& field) -> std::uint64_t {
    return field.type == ArgType::text ? 2 : field.type == ArgType::small ? 1 : 0;
  });
  const auto number = static_cast<std::uint32_t>(forms_.size());
  forms_.push_back(std::move(fields));
  numbers_of_forms_.emplace(key_, number);
  return number;
}

void EventArgs::copy(std::uint64_t* to) const {
  std::copy(numbers_.begin(), numbers_.end(), to);
  if (small_.empty() && texts_.empty()) return;
  to[words() - 1] = 0;
  char* rest = reinterpret_cast<char*>(to + numbers_.size());
  const std::size_t small = small_.size() * sizeof(std::int32_t);
  if (small != 0) std::memcpy(rest, small_.data(), small);
  if (!texts_.empty()) std::memcpy(rest + small, texts_.data(), texts_.size());
}

}  // namespace nvspan::foreign
