// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a tool was told by one NVTX call, free of NVTX's own types, so that every sink (live text,
// JSON lines, a recorder) sees the same thing. Events are borrowed: all that they point at is valid
// only while the sink handles them.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan {

enum class EventKind : std::uint8_t {
  mark,
  push,
  pop,
  start,
  end,
  unclosed,  // no call: a range was still open when its thread or process ended
  lost,      // no call: how many calls could not be shown
  init,
  domain_create,
  domain_destroy,
  register_string,
  name_category,
  name_thread,
  name_cuda,
  name_opencl,
  resource_create,
  resource_destroy,
  sync_create,
  sync_destroy,
  sync_acquire_start,
  sync_acquire_failed,
  sync_acquire_success,
  sync_releasing,
  schema_register,
  enum_register,
  scope_register,
  time_domain_register,
  timer_source,
  time_sync_point,
  time_sync_table,
  time_conversion,
  event_submit,
  event_batch,
  counter_register,
  counter_sample,
  counter_batch,
  mem_heap_register,
  mem_heap_unregister,
  mem_heap_reset,
  mem_regions_register,
  mem_regions_resize,
  mem_regions_unregister,
  mem_regions_name,
  mem_permissions_assign,
  mem_permissions_create,
  mem_permissions_destroy,
  mem_permissions_reset,
  mem_permissions_bind,
  mem_permissions_unbind,
  mem_cuda_process_permissions,
  mem_cuda_device_permissions,
  mem_cuda_peer_access,
  mem_cuda_mark_initialized,
};

constexpr std::string_view event_kind_name(EventKind kind) {
  constexpr std::string_view names[] = {
      "mark",
      "push",
      "pop",
      "start",
      "end",
      "unclosed",
      "lost",
      "init",
      "domain_create",
      "domain_destroy",
      "register_string",
      "name_category",
      "name_thread",
      "name_cuda",
      "name_opencl",
      "resource_create",
      "resource_destroy",
      "sync_create",
      "sync_destroy",
      "sync_acquire_start",
      "sync_acquire_failed",
      "sync_acquire_success",
      "sync_releasing",
      "schema_register",
      "enum_register",
      "scope_register",
      "time_domain_register",
      "timer_source",
      "time_sync_point",
      "time_sync_table",
      "time_conversion",
      "event_submit",
      "event_batch",
      "counter_register",
      "counter_sample",
      "counter_batch",
      "mem_heap_register",
      "mem_heap_unregister",
      "mem_heap_reset",
      "mem_regions_register",
      "mem_regions_resize",
      "mem_regions_unregister",
      "mem_regions_name",
      "mem_permissions_assign",
      "mem_permissions_create",
      "mem_permissions_destroy",
      "mem_permissions_reset",
      "mem_permissions_bind",
      "mem_permissions_unbind",
      "mem_cuda_process_permissions",
      "mem_cuda_device_permissions",
      "mem_cuda_peer_access",
      "mem_cuda_mark_initialized",
  };
  static_assert(sizeof(names) / sizeof(names[0]) ==
                static_cast<std::size_t>(EventKind::mem_cuda_mark_initialized) + 1);
  return names[static_cast<std::size_t>(kind)];
}

enum class MessageType : std::uint8_t { none, ascii, unicode, registered };

enum class PayloadType : std::uint8_t { none, u64, i64, f64, u32, i32, f32, ext, unknown };

// One piece of an extended payload. `data` has no address when it was not copied; `error` says why.
struct PayloadBlob {
  std::uint64_t schema_id = 0;
  std::uint64_t size = 0;
  std::string_view data;
  const char* error = nullptr;
};

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

}  // namespace nvspan
