// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/chrome/chrome_events.hpp"

#include "core/text/json_text.hpp"
#include "core/text/utf8.hpp"

#include <charconv>
#include <limits>

namespace nvspan::reader {
namespace {

struct ReservedColor {
  std::string_view name;
  std::uint32_t rgb;
};
// Chrome's trace viewer has these.
constexpr ReservedColor reserved_colors[] = {
    {"thread_state_uninterruptible", 0xB67D8F},
    {"thread_state_iowait", 0xFF8C00},
    {"thread_state_running", 0x7EC894},
    {"thread_state_runnable", 0x85A0D2},
    {"thread_state_unknown", 0xC79B7D},
    {"background_memory_dump", 0x00B4B4},
    {"light_memory_dump", 0x0000B4},
    {"detailed_memory_dump", 0xB400B4},
    {"generic_work", 0x7D7D7D},
    {"good", 0x007D00},
    {"bad", 0xB47D00},
    {"terrible", 0xB40000},
    {"black", 0x000000},
    {"grey", 0xDDDDDD},
    {"white", 0xFFFFFF},
    {"yellow", 0xFFFF00},
    {"olive", 0x646400},
    {"rail_response", 0x4387FD},
    {"rail_animation", 0xF44A3F},
    {"rail_idle", 0xEE8E00},
    {"rail_load", 0x0DA861},
    {"startup", 0xE6E600},
    {"heap_dump_object_type", 0x0000FF},
    {"heap_dump_child_node_arrow", 0xCC6600},
    {"cq_build_running", 0xFFFF77},
    {"cq_build_passed", 0x99EE66},
    {"cq_build_failed", 0xEE8888},
};

void add_digits(std::string& to, std::uint64_t value) {
  char digits[20];
  to.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
}

}  // namespace

std::string json_string(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    std::uint32_t code_point = 0;
    const std::size_t size = core::decode_utf8(text, code_point);
    valid += size == 0 ? std::string_view("\xEF\xBF\xBD") : text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  core::PagePool pool;
  core::LineBuffer line(pool);
  core::add_json_string(line, valid);
  return std::string(line.data(), line.size());
}

std::string_view nearest_color_name(std::uint32_t argb) {
  std::string_view found;
  int least = std::numeric_limits<int>::max();
  for (const ReservedColor& color : reserved_colors) {
    int distance = 0;
    for (const int shift : {0, 8, 16}) {
      const int difference =
          static_cast<int>(argb >> shift & 0xFF) - static_cast<int>(color.rgb >> shift & 0xFF);
      distance += difference * difference;
    }
    if (distance >= least) continue;
    least = distance;
    found = color.name;
  }
  return found;
}

std::string chrome_lane(std::uint32_t pid, std::uint64_t tid) {
  return ",\"pid\":" + std::to_string(pid) + ",\"tid\":" + std::to_string(tid);
}

void ChromeFile::add_time(std::string& to, std::int64_t ns) {
  std::uint64_t left = ns < 0 ? 0 - static_cast<std::uint64_t>(ns) : static_cast<std::uint64_t>(ns);
  if (ns < 0) to += '-';
  add_digits(to, left / 1000);
  left %= 1000;
  const char decimals[] = {'.', static_cast<char>('0' + left / 100),
                           static_cast<char>('0' + left / 10 % 10),
                           static_cast<char>('0' + left % 10)};
  to.append(decimals, sizeof decimals);
}

void ChromeFile::begin(std::string_view first) {
  buffer() += '{';
  buffer() += first;
  buffer() += "\"traceEvents\":[\n";
}

void ChromeFile::event(char phase, std::string_view lane, std::int64_t time, std::string_view rest,
                       std::string_view args) {
  next();
  std::string& to = buffer();
  to += "{\"ph\":\"";
  to += phase;
  to += '"';
  to += lane;
  to += ",\"ts\":";
  add_time(to, time);
  to += rest;
  if (!args.empty()) {
    to += ",\"args\":{";
    to += args;
    to += '}';
  }
  to += '}';
  flush_when_full();
}

void ChromeFile::metadata(std::string_view kind, std::string_view lane, std::string_view args) {
  next();
  std::string& to = buffer();
  to += "{\"ph\":\"M\"";
  to += lane;
  to += ",\"name\":\"";
  to += kind;
  to += "\",\"args\":{";
  to += args;
  to += "}}";
  flush_when_full();
}

void ChromeFile::end() {
  buffer() += "\n]}\n";
  finish();
}

}  // namespace nvspan::reader
