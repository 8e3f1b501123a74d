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
    std::string domain;
    std::string name;
  };
  struct Track {
    std::uint64_t parent = 0;
    std::int64_t pid = -1;
    std::int64_t tid = -1;
    std::string name;
    std::vector<Slice> open;
    std::uint32_t thread = record::no_thread;
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
  };

  void run();
  void packet(std::string_view bytes);
  void snapshot(Sequence& sequence, std::string_view bytes);
  void defaults(Sequence& sequence, std::string_view bytes);
  void interned(Sequence& sequence, std::string_view bytes);
  void descriptor(std::string_view bytes);
  void event(Sequence& sequence, std::int64_t time, std::string_view bytes);
  std::int64_t time_of(Sequence& sequence, std::uint64_t clock, std::uint64_t stamp);
  std::uint32_t thread_of(std::uint64_t uuid, Track& track);
  [[noreturn]] void fail(const std::string& what) const;

  TraceBuilder builder_;
  std::string buffer_;
  std::uint64_t offset_ = 0;  // of the buffer in the file
  std::uint64_t at_ = 0;      // of the packet in the file
  bool any_ = false;
  std::unordered_map<std::uint64_t, Sequence> sequences_;
  std::unordered_map<std::uint64_t, Track> tracks_;
  std::map<std::uint64_t, Clock> clocks_;
};

}  // namespace nvspan::foreign
