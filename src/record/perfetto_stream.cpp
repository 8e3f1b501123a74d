// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/perfetto_stream.hpp"

#include <algorithm>

namespace nvspan {
namespace {

constexpr std::uint32_t shared_sequence = 1;
constexpr std::uint64_t boot_clock = 6;
constexpr std::uint64_t realtime_clock = 1;
constexpr std::uint64_t own_clock = 64;  // the first that a sequence may define for itself

// TracePacket
constexpr unsigned packet_clock_snapshot = 6;
constexpr unsigned packet_timestamp = 8;
constexpr unsigned packet_sequence = 10;
constexpr unsigned packet_interned = 12;
constexpr unsigned packet_flags = 13;
constexpr unsigned packet_clock = 58;
constexpr unsigned packet_defaults = 59;
constexpr unsigned packet_track = 60;
constexpr std::uint64_t state_cleared = 1;
constexpr std::uint64_t needs_state = 2;

const char* const annotation_names[] = {"payload",  "color",      "started_by",
                                        "ended_by", "end_reason", "uncertainty_ns"};

ProtoBytes annotation(Annotation name) {
  ProtoBytes made;
  made.number(1, static_cast<std::uint64_t>(name));
  return made;
}

ProtoBytes clock(std::uint64_t id, std::int64_t time, bool incremental) {
  ProtoBytes made;
  made.number(1, id);
  made.number(2, static_cast<std::uint64_t>(time));
  if (incremental) made.number(3, 1);
  return made;
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

void add_annotation(ProtoBytes& event, Annotation name, std::string_view text) {
  ProtoBytes made = annotation(name);
  made.text(6, text);
  event.message(4, made);
}
void add_annotation(ProtoBytes& event, Annotation name, std::uint64_t value) {
  ProtoBytes made = annotation(name);
  made.number(3, value);
  event.message(4, made);
}
void add_annotation(ProtoBytes& event, Annotation name, std::int64_t value) {
  ProtoBytes made = annotation(name);
  made.number(4, static_cast<std::uint64_t>(value));
  event.message(4, made);
}
void add_annotation(ProtoBytes& event, Annotation name, double value) {
  ProtoBytes made = annotation(name);
  made.real(5, value);
  event.message(4, made);
}

void add_annotation(ProtoBytes& event, Annotation name, const ProtoBytes& entries) {
  ProtoBytes made = annotation(name);
  made.raw(entries.view());
  event.message(4, made);
}

void add_flow(ProtoBytes& event, std::uint64_t flow, bool arrives) {
  constexpr unsigned flow_ids = 47, terminating_flow_ids = 48;
  event.fixed(arrives ? terminating_flow_ids : flow_ids, flow);
}

void write_track(TraceFile& file, const Track& track) {
  ProtoBytes descriptor;
  descriptor.number(1, track.uuid);
  if (!track.name.empty() && track.kind != TrackKind::process && track.kind != TrackKind::thread) {
    descriptor.text(2, track.name);
  }
  if (track.kind == TrackKind::process) {
    ProtoBytes process;
    process.number(1, track.pid);
    for (const std::string& argument : track.command) process.text(2, argument);
    process.text(6, track.name);
    descriptor.message(3, process);
  } else if (track.kind == TrackKind::thread) {
    ProtoBytes thread;
    thread.number(1, track.pid);
    thread.number(2, track.tid);
    if (!track.name.empty()) thread.text(5, track.name);
    descriptor.message(4, thread);
  }
  if (track.parent != 0) descriptor.number(5, track.parent);
  if (track.kind == TrackKind::counter) {
    constexpr unsigned unit_name = 6;
    ProtoBytes counter;
    if (!track.unit.empty()) counter.text(unit_name, track.unit);
    descriptor.message(8, counter);
  }
  ProtoBytes packet;
  packet.number(packet_sequence, shared_sequence);
  packet.message(packet_track, descriptor);
  file.packet(packet.view());
}

void write_shared_event(TraceFile& file, std::int64_t time, const ProtoBytes& event) {
  ProtoBytes packet;
  packet.number(packet_timestamp, static_cast<std::uint64_t>(time));
  packet.number(packet_sequence, shared_sequence);
  packet.message(11, event);
  file.packet(packet.view());
}

void write_clocks(TraceFile& file, std::int64_t time, std::int64_t realtime) {
  ProtoBytes snapshot;
  snapshot.message(1, clock(boot_clock, time, false));
  snapshot.message(1, clock(realtime_clock, realtime, false));
  ProtoBytes packet;
  packet.number(packet_timestamp, static_cast<std::uint64_t>(time));
  packet.number(packet_sequence, shared_sequence);
  packet.number(packet_flags, state_cleared);
  packet.message(packet_clock_snapshot, snapshot);
  file.packet(packet.view());
}

void Lane::begin(TraceFile& file, std::int64_t time) {
  ProtoBytes snapshot;
  snapshot.message(1, clock(own_clock, time, true));
  snapshot.message(1, clock(boot_clock, time, false));
  ProtoBytes event_defaults;
  event_defaults.number(11, track_);
  ProtoBytes defaults;
  defaults.message(11, event_defaults);
  defaults.number(packet_clock, own_clock);
  ProtoBytes interned;
  for (std::uint64_t i = 0; i < std::size(annotation_names); ++i) {
    ProtoBytes name;
    name.number(1, i + 1);
    name.text(2, annotation_names[i]);
    interned.message(3, name);
  }
  ProtoBytes packet;
  packet.number(packet_timestamp, static_cast<std::uint64_t>(time));
  packet.number(packet_clock, boot_clock);
  packet.number(packet_sequence, sequence_);
  packet.number(packet_flags, state_cleared);
  packet.message(packet_clock_snapshot, snapshot);
  packet.message(packet_defaults, defaults);
  packet.message(packet_interned, interned);
  file.packet(packet.view());
  last_ = time;
  begun_ = true;
  ProtoBytes head;
  head.number(packet_sequence, sequence_);
  head.number(packet_flags, needs_state);
  head_ = head.view();
}

void Lane::define(TraceFile& file, std::uint32_t site, std::int64_t time, const ProtoBytes& names) {
  if (!begun_) begin(file, time);
  if (site >= known_.size()) known_.resize(site + 1, false);
  known_[site] = true;
  if (names.empty()) return;
  ProtoBytes packet;
  packet.raw(head_);
  packet.message(packet_interned, names);
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
    body[at++] = packet_timestamp << 3;
    for (std::uint64_t left = delta;; left >>= 7) {
      body[at++] = static_cast<char>(left < 0x80 ? left : left | 0x80);
      if (left < 0x80) break;
    }
    std::memcpy(body + at, head_.data(), head_.size());
    at += head_.size();
    body[at++] = 11 << 3 | 2;
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
  packet.number(packet_timestamp, delta);
  packet.raw(head_);
  packet.message(11, whole);
  file.packet(packet.view());
}

}  // namespace nvspan
