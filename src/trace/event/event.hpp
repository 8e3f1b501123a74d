// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// One NVTX call, independent of NVTX's types. Pointers are valid only during the sink's call.

#pragma once

#include "trace/event/event_kind.hpp"
#include "trace/event/field.hpp"
#include "trace/payload/payload.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::trace {

enum class MessageType : std::uint8_t { none, ascii, unicode, registered };

// A string_view without an address stands for "absent". Fields that the kind does not use keep
// their defaults.
struct Event {
  EventKind kind = EventKind::mark;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::uint64_t ts = 0;     // ns, CLOCK_MONOTONIC
  std::uint64_t ticks = 0;  // of a recording's clock, where they were taken early

  bool has_domain = false;  // false: a call that names no domain, for example name_thread
  std::string_view domain;  // absent: the default domain
  std::uint64_t domain_handle = 0;
  std::string_view message;
  MessageType message_type = MessageType::none;

  bool has_color = false;
  std::uint32_t color = 0;  // ARGB
  std::uint32_t category = 0;
  std::string_view category_name;

  PayloadType payload_type = PayloadType::none;
  std::uint64_t payload_bits = 0;
  const PayloadBlob* blobs = nullptr;
  std::size_t blob_count = 0;
  // Rows of a batch, or a counter's samples: one after the other, each of that schema.
  std::string_view rows;  // absent: none
  std::uint64_t row_schema = 0;

  std::int32_t depth = -1;       // push, pop: in that thread and domain
  std::uint64_t range_id = 0;    // start, end
  std::int64_t duration = -1;    // pop, end, unclosed: ns; -1 when nothing was open
  std::int32_t nesting = 0;      // open push ranges of the thread around this one, every domain
  std::uint32_t open_color = 0;  // pop, end: the color of the range that they close
  bool has_open_color = false;

  std::string_view thread_name;  // as the program named it
  const Field* fields = nullptr;
  std::size_t field_count = 0;
};

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
