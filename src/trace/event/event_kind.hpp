// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The kinds of events, each beside its name in text: one list. Their order is part of JsonlSink:
// what is up to `unclosed` is of a range or a mark.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::trace {

// Two are no call: `unclosed`, a range that was open when its thread or process ended, and `lost`,
// how many calls could not be shown.
#define NVSPAN_EVENT_KINDS(X) \
  X(mark)                     \
  X(push)                     \
  X(pop)                      \
  X(start)                    \
  X(end)                      \
  X(unclosed)                 \
  X(lost)                     \
  X(init)                     \
  X(domain_create)            \
  X(domain_destroy)           \
  X(register_string)          \
  X(name_category)            \
  X(name_thread)              \
  X(name_cuda)                \
  X(name_opencl)              \
  X(resource_create)          \
  X(resource_destroy)         \
  X(sync_create)              \
  X(sync_destroy)             \
  X(sync_acquire_start)       \
  X(sync_acquire_failed)      \
  X(sync_acquire_success)     \
  X(sync_releasing)           \
  X(schema_register)          \
  X(enum_register)            \
  X(scope_register)           \
  X(time_domain_register)     \
  X(timer_source)             \
  X(time_sync_point)          \
  X(time_sync_table)          \
  X(time_conversion)          \
  X(event_submit)             \
  X(event_batch)              \
  X(counter_register)         \
  X(counter_sample)           \
  X(counter_batch)

enum class EventKind : std::uint8_t {
#define NVSPAN_EVENT_KIND(kind) kind,
  NVSPAN_EVENT_KINDS(NVSPAN_EVENT_KIND)
#undef NVSPAN_EVENT_KIND
};

constexpr std::string_view event_kind_name(EventKind kind) {
  constexpr std::string_view names[] = {
#define NVSPAN_EVENT_KIND(kind) #kind,
      NVSPAN_EVENT_KINDS(NVSPAN_EVENT_KIND)
#undef NVSPAN_EVENT_KIND
  };
  return names[static_cast<std::size_t>(kind)];
}

}  // namespace nvspan::trace
