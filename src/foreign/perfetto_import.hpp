// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Perfetto's protobuf traces: the track events in them, with the names of their tracks.

#pragma once

#include "foreign/trace_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

namespace nvspan::foreign {

class PerfettoImport {
 public:
  explicit PerfettoImport(record::ExternalWriter& writer) : builder_(writer) {}

  // The next bytes of the file. Throws ForeignError.
  void feed(const char* data, std::size_t size);
  // There are no more. `partial`: what a file that was cut has is enough.
  void finish(bool partial);

  const ImportCounts& counts() const noexcept { return builder_.counts(); }

 private:
  struct Slice {
    std::int64_t start;
    std::string_view domain;  // of texts_
    std::string_view name;
  };
  // A begin or end on a track that several threads may write, by parts: these stand in the file one
  // after the other, and not in the order of time.
  struct Held {
    Slice slice;
    bool is_end;
  };
  struct Track {
    std::uint64_t parent = 0;
    std::int64_t pid = -1;
    std::int64_t tid = -1;
    std::string name;
    std::vector<Slice> open;
    std::vector<Held> held;
    std::uint32_t thread = record::no_thread;
    // Of a counter: what one of its values counts, and whether they are differences.
    std::int64_t unit = 1;
    bool is_incremental = false;
    std::int64_t sum = 0;
    double real_sum = 0;
  };
  // What a track event says; names are those of the sequence, or of the packet.
  struct Event {
    std::uint64_t type = 0;
    std::uint64_t track = 0;
    std::string_view name, category;
    std::int64_t integer = 0;
    double real = 0;
    bool is_real = false;
    // As the program's own kinds of events have it, which have no type: Chrome's letters.
    char phase = 0;
    std::int64_t duration = 0;  // us
    std::uint64_t id = 0;
  };
  struct Clock {
    std::int64_t offset = 0;  // to the trace's
    std::int64_t unit = 1;    // ns
    std::int64_t last = 0;    // of an incremental one, in its own units
    bool incremental = false;
    bool known = false;
  };
  struct Sequence {
    std::unordered_map<std::uint64_t, std::string> names, categories;
    std::map<std::uint64_t, Clock> clocks;
    std::uint64_t default_track = 0;
    std::uint64_t default_clock = 0;
    bool is_whole = false;  // none of the names and defaults before were lost
  };

  void run();
  void packet(std::string_view bytes);
  void snapshot(Sequence& sequence, std::string_view bytes);
  void defaults(Sequence& sequence, std::string_view bytes);
  void interned(Sequence& sequence, std::string_view bytes);
  void descriptor(std::string_view bytes);
  void event(Sequence& sequence, std::int64_t time, std::string_view bytes);
  Event read_event(const Sequence& sequence, std::string_view bytes);
  void read_legacy(const Sequence& sequence, std::string_view bytes, Event& event);
  void begin(Track& track, const Event& event, std::int64_t time);
  void end(std::uint64_t uuid, Track& track, std::int64_t time);
  void count(Track& track, const Event& event, std::int64_t time);
  void hold(Track& track, const Slice& slice, bool is_end);
  void settle();
  std::string_view kept(std::string_view text) { return *texts_.emplace(text).first; }
  void legacy(Track& track, const Event& event, std::int64_t time);
  // False: the clock is not known.
  bool time_of(Sequence& sequence, std::uint64_t clock, std::uint64_t stamp, std::int64_t& time);
  std::uint32_t thread_of(std::uint64_t uuid, Track& track);
  [[noreturn]] void fail(const std::string& what) const;

  TraceBuilder builder_;
  std::string buffer_;
  std::uint64_t offset_ = 0;  // of the buffer in the file
  std::uint64_t at_ = 0;      // of the packet in the file
  bool any_ = false;
  std::unordered_map<std::uint64_t, Sequence> sequences_;
  std::unordered_map<std::uint64_t, Track> tracks_;
  std::size_t held_ = 0;  // of all tracks
  bool settling_ = false;
  std::unordered_set<std::string> texts_;
  std::map<std::uint64_t, Clock> clocks_;
};

}  // namespace nvspan::foreign
