// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::trace {

enum class FieldType : std::uint8_t {
  null,
  boolean,
  integer,
  unsigned_integer,
  real,
  text,   // null when the view has no address
  bytes,  // likewise
  list,
  object,
};

// A named value of an event that has no place of its own in Event. `text` is UTF-8 as far as the
// program's own bytes are; `children` of a list have no key.
struct Field {
  const char* key = nullptr;
  FieldType type = FieldType::null;
  union {
    std::int64_t integer = 0;
    std::uint64_t unsigned_integer;
    double real;
    bool boolean;
  };
  std::string_view text;
  const Field* children = nullptr;
  std::size_t child_count = 0;

  static Field null(const char* key) noexcept {
    Field field;
    field.key = key;
    return field;
  }
  static Field flag(const char* key, bool value) noexcept {
    Field field = of(key, FieldType::boolean);
    field.boolean = value;
    return field;
  }
  static Field number(const char* key, std::int64_t value) noexcept {
    Field field = of(key, FieldType::integer);
    field.integer = value;
    return field;
  }
  static Field count(const char* key, std::uint64_t value) noexcept {
    Field field = of(key, FieldType::unsigned_integer);
    field.unsigned_integer = value;
    return field;
  }
  static Field decimal(const char* key, double value) noexcept {
    Field field = of(key, FieldType::real);
    field.real = value;
    return field;
  }
  static Field string(const char* key, std::string_view value) noexcept {
    Field field = of(key, FieldType::text);
    field.text = value;
    return field;
  }
  static Field bytes(const char* key, std::string_view value) noexcept {
    Field field = of(key, FieldType::bytes);
    field.text = value;
    return field;
  }
  static Field list(const char* key, const Field* children, std::size_t count) noexcept {
    return nested(key, FieldType::list, children, count);
  }
  static Field object(const char* key, const Field* children, std::size_t count) noexcept {
    return nested(key, FieldType::object, children, count);
  }

 private:
  static Field of(const char* key, FieldType type) noexcept {
    Field field;
    field.key = key;
    field.type = type;
    return field;
  }
  static Field nested(const char* key, FieldType type, const Field* children,
                      std::size_t count) noexcept {
    Field field = of(key, type);
    field.children = children;
    field.child_count = count;
    return field;
  }
};

}  // namespace nvspan::trace
