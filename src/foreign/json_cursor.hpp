// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace nvspan::foreign {

// What is at hand ends before what was begun: more bytes may follow.
struct NeedMore : std::exception {};
// What is there is no JSON.
struct BadJson : std::exception {
  BadJson(const char* where, const char* reason) noexcept : at(where), why(reason) {}
  const char* what() const noexcept override { return why; }
  const char* at;
  const char* why;
};

// Reads JSON from bytes that are at hand, value by value.
class JsonCursor {
 public:
  JsonCursor() = default;
  JsonCursor(const char* begin, const char* end) : at_(begin), end_(end) {}
  explicit JsonCursor(std::string_view text) : JsonCursor(text.data(), text.data() + text.size()) {}

  const char* at() const noexcept { return at_; }
  void skip_blanks() noexcept {
    while (at_ != end_ && (*at_ == ' ' || *at_ == '\n' || *at_ == '\t' || *at_ == '\r')) ++at_;
  }
  // The next byte that is no space.
  char peek() {
    skip_blanks();
    if (at_ == end_) throw NeedMore{};
    return *at_;
  }
  bool take(char byte) {
    if (peek() != byte) return false;
    ++at_;
    return true;
  }
  void expect(char byte, const char* what) {
    if (!take(byte)) throw BadJson{at_, what};
  }
  // The text, in the bytes themselves or, where it has escapes, in `scratch`.
  std::string_view string(std::string& scratch);
  // The first byte of the next value. Throws where there is none.
  char peek_value();
  // The bytes of the next value, which is skipped.
  std::string_view value();
  // Skips what is there of a value. False: it goes on in the bytes that follow, with that `place`.
  struct Place {
    std::size_t depth = 0;
    bool in_text = false;
    bool is_escaped = false;
  };
  bool skip(Place& place) noexcept;

 private:
  void skip_string();
  void unescape(std::string& out);

  const char* at_ = nullptr;
  const char* end_ = nullptr;
};

// A number of microseconds, with as many places as there are, as nanoseconds. False: it is none,
// or past 2^62 ns.
bool read_nanoseconds(std::string_view micros, std::int64_t& out);
// False: it is no whole number that 64 bits hold, and `out` stays.
bool read_integer(std::string_view text, std::int64_t& out);
bool read_real(std::string_view text, double& out);

}  // namespace nvspan::foreign
