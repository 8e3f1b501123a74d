// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Chrome's trace event format, as torch.profiler (Kineto), JAX and many others write it: an array
// of events, or an object that has it as "traceEvents". Kineto's kernels and copies become ranges
// of their device.

#pragma once

#include "foreign/event_args.hpp"
#include "foreign/json_cursor.hpp"
#include "foreign/trace_builder.hpp"

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace nvspan::foreign {

class ChromeImport {
 public:
  explicit ChromeImport(record::ExternalWriter& writer) : builder_(writer) {}

  // The next bytes of the file. Throws ForeignError.
  void feed(const char* data, std::size_t size);
  // There are no more. `partial`: what a file that was cut has is enough.
  void finish(bool partial);

  const ImportCounts& counts() const noexcept { return builder_.counts(); }

 private:
  enum class Part { begin, object, skipped, events, end };

  static constexpr std::int64_t not_ended = INT64_MIN;

  struct Event {
    char phase = '\0';
    std::string_view name, category, id, args, scope;
    std::string_view process, thread;  // as they stand there
    std::int64_t time = 0;
    std::int64_t duration = not_ended;
    bool has_time = false;
  };

  void run();
  void step();
  void object_member();
  void read_event();
  std::string_view read_args(bool of_device);
  void add(const Event& event);
  void add_begin(const Event& event, std::uint32_t thread);
  void add_end(const Event& event, std::uint32_t thread);
  void add_whole(const Event& event, std::uint32_t thread);
  bool add_of_device(const Event& event);
  void add_samples(const Event& event, std::uint32_t thread);
  void add_name(const Event& event);
  std::int64_t key_of(std::string_view value);
  std::uint64_t id_of(const Event& event) const;
  std::string_view member(std::string_view object, std::string_view key, std::string& scratch);
  [[noreturn]] void fail(const char* at, const std::string& what) const;

  TraceBuilder builder_;
  Part part_ = Part::begin;
  JsonCursor::Place skipped_;
  bool is_array_ = false;
  std::string buffer_;
  std::uint64_t offset_ = 0;  // of the buffer in the file
  JsonCursor cursor_;
  std::vector<std::vector<std::string>> begun_;  // categories, by thread
  EventArgs args_;                               // of the event at hand
  // Some of them, as Kineto calls them.
  struct Numbers {
    std::int64_t device = -1, stream = -1, correlation = 0;
  };
  Numbers numbers_;
  std::uint64_t args_cut_ = 0;
  std::string name_text_, category_text_, key_text_, args_text_, id_text_;
};

}  // namespace nvspan::foreign
