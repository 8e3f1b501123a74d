// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "trace/event/event.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::trace {

inline const Field* find_field(const Field* fields, std::size_t count,
                               std::string_view key) noexcept {
  for (std::size_t i = 0; i < count; ++i) {
    if (fields[i].key != nullptr && key == fields[i].key) return fields + i;
  }
  return nullptr;
}

inline const Field* find_field(const Event& event, std::string_view key) noexcept {
  return find_field(event.fields, event.field_count, key);
}

inline const Field* find_member(const Field& object, std::string_view key) noexcept {
  return find_field(object.children, object.child_count, key);
}

inline std::string_view text_of(const Field* field) noexcept {
  return field == nullptr ? std::string_view() : field->text;
}

inline std::uint64_t number_of(const Field* field) noexcept {
  return field == nullptr ? 0 : field->unsigned_integer;
}

}  // namespace nvspan::trace
