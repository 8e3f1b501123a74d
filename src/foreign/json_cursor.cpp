// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "foreign/json_cursor.hpp"

#include <charconv>
#include <cmath>
#include <cstdlib>
#include <cstring>

namespace nvspan::foreign {
namespace {

void append_utf8(std::string& out, std::uint32_t code) {
  if (code < 0x80) {
    out += static_cast<char>(code);
  } else if (code < 0x800) {
    out += static_cast<char>(0xC0 | code >> 6);
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    out += static_cast<char>(0xE0 | code >> 12);
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    out += static_cast<char>(0xF0 | code >> 18);
    out += static_cast<char>(0x80 | (code >> 12 & 0x3F));
    out += static_cast<char>(0x80 | (code >> 6 & 0x3F));
    out += static_cast<char>(0x80 | (code & 0x3F));
  }
}

bool ends_word(char byte) {
  return byte == ',' || byte == '}' || byte == ']' || byte == ' ' || byte == '\n' || byte == '\t' ||
         byte == '\r' || byte == '\0';
}

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

}  // namespace

void JsonCursor::skip_string() {  // behind its first quote
  // Most are short and have no escapes.
  constexpr std::ptrdiff_t near = 24;
  const char* limit = end_ - at_ < near ? end_ : at_ + near;
  for (const char* at = at_; at != limit && *at != '\\'; ++at) {
    if (*at != '"') continue;
    at_ = at + 1;
    return;
  }
  for (;;) {
    const auto* quote =
        static_cast<const char*>(std::memchr(at_, '"', static_cast<std::size_t>(end_ - at_)));
    if (quote == nullptr) throw NeedMore{};
    std::size_t slashes = 0;
    while (quote - slashes > at_ && quote[-1 - static_cast<std::ptrdiff_t>(slashes)] == '\\') {
      ++slashes;
    }
    at_ = quote + 1;
    if (slashes % 2 == 0) return;
  }
}

std::string_view JsonCursor::string(std::string& scratch) {
  expect('"', "expected a string");
  const char* begin = at_;
  skip_string();
  const std::string_view text(begin, static_cast<std::size_t>(at_ - 1 - begin));
  if (std::memchr(text.data(), '\\', text.size()) == nullptr) return text;
  scratch = text;
  unescape(scratch);
  return scratch;
}

void JsonCursor::unescape(std::string& text) {
  std::string out;
  const auto unit = [&](std::size_t at, std::uint32_t& code) {
    if (at + 4 > text.size()) return false;
    const auto read = std::from_chars(text.data() + at, text.data() + at + 4, code, 16);
    return read.ec == std::errc() && read.ptr == text.data() + at + 4;
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\' || i + 1 == text.size()) {
      out += text[i];
      continue;
    }
    static const char letters[] = "bfnrt";
    static const char meant[] = "\b\f\n\r\t";
    const char letter = text[++i];
    if (const char* found = std::strchr(letters, letter); found != nullptr && letter != '\0') {
      out += meant[found - letters];
      continue;
    }
    std::uint32_t code = 0;
    if (letter != 'u' || !unit(i + 1, code)) {
      out += letter;
      continue;
    }
    i += 4;
    std::uint32_t low = 0;
    const bool pair = code >= 0xD800 && code < 0xDC00 && i + 2 < text.size() &&
                      text[i + 1] == '\\' && text[i + 2] == 'u' && unit(i + 3, low) &&
                      low >= 0xDC00 && low < 0xE000;
    if (pair) {
      code = 0x10000 + ((code - 0xD800) << 10) + (low - 0xDC00);
      i += 6;
    }
    append_utf8(out, code);
  }
  text = std::move(out);
}

char JsonCursor::peek_value() {
  if (ends_word(peek())) throw BadJson{at_, "expected a value"};
  return *at_;
}

std::string_view JsonCursor::value() {
  const char first = peek_value();
  const char* begin = at_;
  if (first == '"') {
    ++at_;
    skip_string();
  } else if (first == '{' || first == '[') {
    std::size_t depth = 0;
    do {
      if (at_ == end_) throw NeedMore{};
      const char byte = *at_++;
      if (byte == '"') skip_string();
      if (byte == '{' || byte == '[') ++depth;
      if (byte == '}' || byte == ']') --depth;
    } while (depth != 0);
  } else {
    while (at_ != end_ && !ends_word(*at_)) ++at_;
    if (at_ == end_) throw NeedMore{};
  }
  return {begin, static_cast<std::size_t>(at_ - begin)};
}

bool JsonCursor::skip(Place& place) noexcept {
  while (at_ != end_) {
    if (place.depth == 0 && !place.in_text && ends_word(*at_)) return true;
    const char byte = *at_++;
    if (place.in_text) {
      place.in_text = byte != '"' || place.is_escaped;
      place.is_escaped = byte == '\\' && !place.is_escaped;
    } else if (byte == '"') {
      place.in_text = true;
      continue;
    } else if (byte == '{' || byte == '[') {
      ++place.depth;
    } else if (byte == '}' || byte == ']') {
      --place.depth;
    } else {
      continue;
    }
    if (place.depth == 0 && !place.in_text) return true;
  }
  return false;
}

namespace {

std::string_view without_quotes(std::string_view text) {
  const bool quoted = text.size() >= 2 && text.front() == '"' && text.back() == '"';
  return quoted ? text.substr(1, text.size() - 2) : text;
}

}  // namespace

bool read_nanoseconds(std::string_view text, std::int64_t& out) {
  constexpr std::int64_t limit = std::int64_t{1} << 62;  // the sum of two does not overflow
  text = without_quotes(text);
  const char* at = text.data();
  const char* end = at + text.size();
  const bool negative = at != end && *at == '-';
  if (negative) ++at;
  if (at == end || !is_digit(*at)) return false;
  constexpr std::int64_t most = INT64_MAX / 10'000;
  std::int64_t number = 0;
  for (; at != end && is_digit(*at); ++at) {
    if (number > most) return false;
    number = number * 10 + (*at - '0');
  }
  int places = 0;
  bool up = false;
  if (at != end && *at == '.') {
    for (++at; at != end && is_digit(*at); ++at, ++places) {
      if (places < 3) number = number * 10 + (*at - '0');
      if (places == 3) up = *at >= '5';
    }
  }
  if (at != end) {  // with an exponent
    double real = 0;
    if (!read_real(text, real) || !(std::fabs(real) * 1000 < static_cast<double>(limit))) {
      return false;
    }
    out = std::llround(real * 1000);
    return true;
  }
  for (; places < 3; ++places) {
    if (number > INT64_MAX / 10) return false;
    number *= 10;
  }
  number += up ? 1 : 0;
  if (number >= limit) return false;
  out = negative ? -number : number;
  return true;
}

bool read_integer(std::string_view text, std::int64_t& out) {
  text = without_quotes(text);
  const char* begin = text.data();
  const char* end = begin + text.size();
  std::int64_t whole = 0;  // of "1e99" the 1
  const auto read = std::from_chars(begin, end, whole);
  if (read.ec == std::errc() && read.ptr == end && !text.empty()) {
    out = whole;
    return true;
  }
  double real = 0;
  if (!read_real(text, real) || !(std::fabs(real) < 9e15) || real != std::floor(real)) return false;
  out = static_cast<std::int64_t>(real);
  return true;
}

bool read_real(std::string_view text, double& out) {
  constexpr std::size_t most = 64;
  char digits[most + 1];
  if (text.empty() || text.size() > most) return false;
  std::memcpy(digits, text.data(), text.size());
  digits[text.size()] = '\0';
  char* end = nullptr;
  out = std::strtod(digits, &end);
  return end == digits + text.size();
}

}  // namespace nvspan::foreign
