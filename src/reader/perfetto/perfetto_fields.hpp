// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Numbers of the fields that Perfetto's .proto files give to what an export writes: a namespace for
// each message, in the files' own names.

#pragma once

#include <cstdint>

namespace nvspan::reader::perfetto {

namespace trace_packet {
constexpr unsigned clock_snapshot = 6;
constexpr unsigned timestamp = 8;
constexpr unsigned trusted_packet_sequence_id = 10;
constexpr unsigned track_event = 11;
constexpr unsigned interned_data = 12;
constexpr unsigned sequence_flags = 13;
constexpr unsigned timestamp_clock_id = 58;
constexpr unsigned trace_packet_defaults = 59;
constexpr unsigned track_descriptor = 60;
}  // namespace trace_packet
enum SequenceFlags : std::uint64_t {
  SEQ_INCREMENTAL_STATE_CLEARED = 1,
  SEQ_NEEDS_INCREMENTAL_STATE = 2,
};

namespace trace_packet_defaults {
constexpr unsigned track_event_defaults = 11;
constexpr unsigned timestamp_clock_id = 58;
}  // namespace trace_packet_defaults
constexpr unsigned track_event_defaults_track_uuid = 11;

constexpr unsigned clock_snapshot_clocks = 1;
namespace clock {
constexpr unsigned clock_id = 1;
constexpr unsigned timestamp = 2;
constexpr unsigned is_incremental = 3;
}  // namespace clock
enum BuiltinClocks : std::uint64_t {
  REALTIME = 1,
  BOOTTIME = 6,
  first_own_clock = 64,  // the first that a sequence may define for itself
};

namespace track_event {
constexpr unsigned category_iids = 3;
constexpr unsigned debug_annotations = 4;
constexpr unsigned type = 9;
constexpr unsigned name_iid = 10;
constexpr unsigned track_uuid = 11;
constexpr unsigned name = 23;
constexpr unsigned counter_value = 30;
constexpr unsigned double_counter_value = 44;
constexpr unsigned flow_ids = 47;
constexpr unsigned terminating_flow_ids = 48;
constexpr unsigned correlation_id_str_iid = 54;
}  // namespace track_event
enum TrackEventType : std::uint64_t {
  TYPE_SLICE_BEGIN = 1,
  TYPE_SLICE_END = 2,
  TYPE_INSTANT = 3,
  TYPE_COUNTER = 4,
};

namespace debug_annotation {
constexpr unsigned name_iid = 1;
constexpr unsigned uint_value = 3;
constexpr unsigned int_value = 4;
constexpr unsigned double_value = 5;
constexpr unsigned string_value = 6;
constexpr unsigned name = 10;
constexpr unsigned dict_entries = 11;
constexpr unsigned array_values = 12;
constexpr unsigned string_value_iid = 17;
}  // namespace debug_annotation

namespace interned_data {
constexpr unsigned event_categories = 1;
constexpr unsigned event_names = 2;
constexpr unsigned debug_annotation_names = 3;
constexpr unsigned debug_annotation_string_values = 29;
constexpr unsigned correlation_id_str = 43;
}  // namespace interned_data
// EventCategory, EventName, DebugAnnotationName, InternedString
namespace interned {
constexpr unsigned iid = 1;
constexpr unsigned name = 2;
}  // namespace interned

namespace track_descriptor {
constexpr unsigned uuid = 1;
constexpr unsigned name = 2;
constexpr unsigned process = 3;
constexpr unsigned thread = 4;
constexpr unsigned parent_uuid = 5;
constexpr unsigned counter = 8;
}  // namespace track_descriptor
namespace process_descriptor {
constexpr unsigned pid = 1;
constexpr unsigned cmdline = 2;
constexpr unsigned process_name = 6;
}  // namespace process_descriptor
namespace thread_descriptor {
constexpr unsigned pid = 1;
constexpr unsigned tid = 2;
constexpr unsigned thread_name = 5;
}  // namespace thread_descriptor
constexpr unsigned counter_descriptor_unit_name = 6;

}  // namespace nvspan::reader::perfetto
