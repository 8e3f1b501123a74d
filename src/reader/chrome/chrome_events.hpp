// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Events of the Chrome trace format, written as they are made: an object with a list of events, in
// ASCII, times in microseconds with three decimals.

#pragma once

#include "core/memory/page_pool.hpp"
#include "core/text/line_buffer.hpp"
#include "reader/export/output_file.hpp"

#include <cstdint>
#include <string>
#include <string_view>

namespace nvspan::reader {

// A text as a JSON string. Bytes that are no UTF-8 become U+FFFD, as readers may refuse them.
std::string json_string(std::string_view text);

// The reserved color of the format that is nearest: it has names for some thirty, and no others.
std::string_view nearest_color_name(std::uint32_t argb);

class ChromeFile : public OutputFile {
 public:
  using OutputFile::OutputFile;

  // `first` are members of the object before the list, each with a comma behind it.
  void begin(std::string_view first);
  // `lane` and `rest` are members, each with a comma before it; `args` those of "args", with commas
  // in between.
  void event(char phase, std::string_view lane, std::int64_t time, std::string_view rest,
             std::string_view args = {});
  // What something is called: "process_name", "thread_name" and so on.
  void metadata(std::string_view kind, std::string_view lane, std::string_view args);
  void end();

  static void add_time(std::string& to, std::int64_t ns);

 private:
  void next() {
    if (has_events_) buffer() += ",\n";
    has_events_ = true;
  }

  bool has_events_ = false;
};

// ,"pid":1,"tid":2
std::string chrome_lane(std::uint32_t pid, std::uint64_t tid);

}  // namespace nvspan::reader
