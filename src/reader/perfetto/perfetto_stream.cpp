// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/perfetto/perfetto_stream.hpp"

#include <algorithm>

namespace nvspan::reader {
namespace {

using namespace perfetto;

constexpr std::uint32_t shared_sequence = 1;
const char* const annotation_names[] = {"payload",    "color",          "started_by", "ended_by",
                                        "end_reason", "uncertainty_ns", "source"};

ProtoBytes annotation(ArgumentName name) {
  ProtoBytes bytes;
  bytes.number(debug_annotation::name_iid, static_cast<std::uint64_t>(name));
  return bytes;
}

ProtoBytes clock_at(std::uint64_t id, std::int64_t time, bool incremental) {
  ProtoBytes bytes;
  bytes.number(clock::clock_id, id);
  bytes.number(clock::timestamp, static_cast<std::uint64_t>(time));
  if (incremental) bytes.number(clock::is_incremental, 1);
  return bytes;
}

}  // namespace

void TraceFile::packet(std::string_view body) {
  char head[12] = {0x0A};
  std::size_t size = 1;
  for (std::uint64_t left = body.size();; left >>= 7) {
    head[size++] = static_cast<char>(left < 0x80 ? left : left | 0x80);
    if (left < 0x80) break;
  }
  buffer().append(head, size);
  buffer().append(body);
  flush_when_full();
}

void add_annotation(ProtoBytes& event, ArgumentName name, std::string_view text) {
  ProtoBytes bytes = annotation(name);
  bytes.text(debug_annotation::string_value, text);
  event.message(track_event::debug_annotations, bytes);
}
void add_annotation(ProtoBytes& event, ArgumentName name, std::uint64_t value) {
  ProtoBytes bytes = annotation(name);
  bytes.number(debug_annotation::uint_value, value);
  event.message(track_event::debug_annotations, bytes);
}
void add_annotation(ProtoBytes& event, ArgumentName name, std::int64_t value) {
  ProtoBytes bytes = annotation(name);
  bytes.number(debug_annotation::int_value, static_cast<std::uint64_t>(value));
  event.message(track_event::debug_annotations, bytes);
}
void add_annotation(ProtoBytes& event, ArgumentName name, double value) {
  ProtoBytes bytes = annotation(name);
  bytes.real(debug_annotation::double_value, value);
  event.message(track_event::debug_annotations, bytes);
}

void add_annotation(ProtoBytes& event, ArgumentName name, const ProtoBytes& entries) {
  ProtoBytes bytes = annotation(name);
  bytes.raw(entries.view());
  event.message(track_event::debug_annotations, bytes);
}

void add_flow(ProtoBytes& event, std::uint64_t flow, bool arrives) {
  event.fixed(arrives ? track_event::terminating_flow_ids : track_event::flow_ids, flow);
}

void write_track(TraceFile& file, const Track& track) {
  ProtoBytes descriptor;
  descriptor.number(track_descriptor::uuid, track.uuid);
  if (!track.name.empty() && track.kind != TrackKind::process && track.kind != TrackKind::thread) {
    descriptor.text(track_descriptor::name, track.name);
  }
  if (track.kind == TrackKind::process) {
    ProtoBytes process;
    process.number(process_descriptor::pid, track.pid);
    for (const std::string& argument : track.command) {
      process.text(process_descriptor::cmdline, argument);
    }
    process.text(process_descriptor::process_name, track.name);
    descriptor.message(track_descriptor::process, process);
  } else if (track.kind == TrackKind::thread) {
    ProtoBytes thread;
    thread.number(thread_descriptor::pid, track.pid);
    thread.number(thread_descriptor::tid, track.tid);
    if (!track.name.empty()) thread.text(thread_descriptor::thread_name, track.name);
    descriptor.message(track_descriptor::thread, thread);
  }
  if (track.parent != 0) descriptor.number(track_descriptor::parent_uuid, track.parent);
  if (track.kind == TrackKind::counter) {
    ProtoBytes counter;
    if (!track.unit.empty()) counter.text(counter_descriptor_unit_name, track.unit);
    descriptor.message(track_descriptor::counter, counter);
  }
  ProtoBytes packet;
  packet.number(trace_packet::trusted_packet_sequence_id, shared_sequence);
  packet.message(trace_packet::track_descriptor, descriptor);
  file.packet(packet.view());
}

void write_shared_event(TraceFile& file, std::int64_t time, const ProtoBytes& event) {
  ProtoBytes packet;
  packet.number(trace_packet::timestamp, static_cast<std::uint64_t>(time));
  packet.number(trace_packet::trusted_packet_sequence_id, shared_sequence);
  packet.message(trace_packet::track_event, event);
  file.packet(packet.view());
}

void write_clocks(TraceFile& file, std::int64_t time, std::int64_t realtime) {
  ProtoBytes snapshot;
  snapshot.message(clock_snapshot_clocks, clock_at(BOOTTIME, time, false));
  snapshot.message(clock_snapshot_clocks, clock_at(REALTIME, realtime, false));
  ProtoBytes packet;
  packet.number(trace_packet::timestamp, static_cast<std::uint64_t>(time));
  packet.number(trace_packet::trusted_packet_sequence_id, shared_sequence);
  packet.number(trace_packet::sequence_flags, SEQ_INCREMENTAL_STATE_CLEARED);
  packet.message(trace_packet::clock_snapshot, snapshot);
  file.packet(packet.view());
}

void Lane::begin(TraceFile& file, std::int64_t time) {
  ProtoBytes snapshot;
  snapshot.message(clock_snapshot_clocks, clock_at(first_own_clock, time, true));
  snapshot.message(clock_snapshot_clocks, clock_at(BOOTTIME, time, false));
  ProtoBytes event_defaults;
  event_defaults.number(track_event_defaults_track_uuid, track_);
  ProtoBytes defaults;
  defaults.message(trace_packet_defaults::track_event_defaults, event_defaults);
  defaults.number(trace_packet_defaults::timestamp_clock_id, first_own_clock);
  ProtoBytes names;
  for (std::uint64_t i = 0; i < std::size(annotation_names); ++i) {
    ProtoBytes name;
    name.number(interned::iid, i + 1);
    name.text(interned::name, annotation_names[i]);
    names.message(interned_data::debug_annotation_names, name);
  }
  ProtoBytes packet;
  packet.number(trace_packet::timestamp, static_cast<std::uint64_t>(time));
  packet.number(trace_packet::timestamp_clock_id, BOOTTIME);
  packet.number(trace_packet::trusted_packet_sequence_id, sequence_);
  packet.number(trace_packet::sequence_flags, SEQ_INCREMENTAL_STATE_CLEARED);
  packet.message(trace_packet::clock_snapshot, snapshot);
  packet.message(trace_packet::trace_packet_defaults, defaults);
  packet.message(trace_packet::interned_data, names);
  file.packet(packet.view());
  last_ = time;
  begun_ = true;
  ProtoBytes head;
  head.number(trace_packet::trusted_packet_sequence_id, sequence_);
  head.number(trace_packet::sequence_flags, SEQ_NEEDS_INCREMENTAL_STATE);
  head_ = head.view();
}

void Lane::define(TraceFile& file, std::uint32_t site, std::int64_t time, const ProtoBytes& names) {
  if (!begun_) begin(file, time);
  if (site >= known_.size()) known_.resize(site + 1, false);
  known_[site] = true;
  if (names.empty()) return;
  ProtoBytes packet;
  packet.raw(head_);
  packet.message(trace_packet::interned_data, names);
  file.packet(packet.view());
}

void Lane::event(TraceFile& file, std::int64_t time, std::string_view event,
                 std::string_view more) {
  if (!begun_) begin(file, time);
  const auto delta = static_cast<std::uint64_t>(std::max<std::int64_t>(time - last_, 0));
  last_ = std::max(time, last_);
  // The commonest packets are small: they are put together in place.
  const std::size_t size = event.size() + more.size();
  if (size < 0x80) {
    char body[160 + 24];
    std::size_t at = 0;
    body[at++] = trace_packet::timestamp << 3;
    for (std::uint64_t left = delta;; left >>= 7) {
      body[at++] = static_cast<char>(left < 0x80 ? left : left | 0x80);
      if (left < 0x80) break;
    }
    std::memcpy(body + at, head_.data(), head_.size());
    at += head_.size();
    body[at++] = trace_packet::track_event << 3 | 2;
    body[at++] = static_cast<char>(size);
    std::memcpy(body + at, event.data(), event.size());
    at += event.size();
    if (!more.empty()) std::memcpy(body + at, more.data(), more.size());
    file.packet(std::string_view(body, at + more.size()));
    return;
  }
  ProtoBytes whole;
  whole.raw(event);
  whole.raw(more);
  ProtoBytes packet;
  packet.number(trace_packet::timestamp, delta);
  packet.raw(head_);
  packet.message(trace_packet::track_event, whole);
  file.packet(packet.view());
}

}  // namespace nvspan::reader
