// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Packets of a Perfetto trace, written as they are made.

#pragma once

#include "reader/export/output_file.hpp"
#include "reader/perfetto/perfetto_fields.hpp"
#include "reader/perfetto/proto.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvspan::reader {

class TraceFile : public OutputFile {
 public:
  using OutputFile::OutputFile;
  void packet(std::string_view body);
};

// Names of annotations, the same in every lane.
enum class ArgumentName : std::uint8_t {
  payload = 1,
  color,
  started_by,
  ended_by,
  end_reason,
  uncertainty,
  source,
};

void add_annotation(ProtoBytes& event, ArgumentName name, std::string_view text);
void add_annotation(ProtoBytes& event, ArgumentName name, std::uint64_t value);
void add_annotation(ProtoBytes& event, ArgumentName name, std::int64_t value);
void add_annotation(ProtoBytes& event, ArgumentName name, double value);
// `entries` are a DebugAnnotation's, as AnnotatedFields makes them.
void add_annotation(ProtoBytes& event, ArgumentName name, const ProtoBytes& entries);

// An arrow from the slice to others of its number, or to this one from them.
void add_flow(ProtoBytes& event, std::uint64_t flow, bool arrives);

enum class TrackKind : std::uint8_t { process, thread, plain, counter };

struct Track {
  std::uint64_t uuid = 0;
  std::uint64_t parent = 0;
  TrackKind kind = TrackKind::plain;
  std::string name;
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::vector<std::string> command;
  std::string unit;  // of a counter
};
void write_track(TraceFile& file, const Track& track);
// An event of a track that has no lane: `event` names its track.
void write_shared_event(TraceFile& file, std::int64_t time, const ProtoBytes& event);
void write_clocks(TraceFile& file, std::int64_t time, std::int64_t realtime);

// Slices and instants of one track, in the order of their times: a packet sequence of its own, with
// times as differences and names by number.
class Lane {
 public:
  Lane(std::uint32_t sequence, std::uint64_t track) : sequence_(sequence), track_(track) {}

  bool knows(std::uint32_t site) const { return site < known_.size() && known_[site]; }
  // `names` is an InternedData message with what the site's events cite.
  void define(TraceFile& file, std::uint32_t site, std::int64_t time, const ProtoBytes& names);
  // `event` is a TrackEvent message.
  void event(TraceFile& file, std::int64_t time, std::string_view event, std::string_view more);

 private:
  void begin(TraceFile& file, std::int64_t time);

  std::uint32_t sequence_;
  std::uint64_t track_;
  std::int64_t last_ = 0;
  bool begun_ = false;
  std::string head_;
  std::vector<bool> known_;
};

// The field of a TrackEvent that says its type, as it is written.
template <perfetto::TrackEventType type>
inline constexpr char type_field[] = {static_cast<char>(perfetto::track_event::type << 3),
                                      static_cast<char>(type)};
template <perfetto::TrackEventType type>
constexpr std::string_view type_bytes{type_field<type>, sizeof type_field<type>};

constexpr std::string_view slice_begin = type_bytes<perfetto::TYPE_SLICE_BEGIN>;
constexpr std::string_view slice_end = type_bytes<perfetto::TYPE_SLICE_END>;
constexpr std::string_view instant = type_bytes<perfetto::TYPE_INSTANT>;

}  // namespace nvspan::reader
