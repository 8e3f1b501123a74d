// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/text/printable.hpp"
#include "core/text/utf8.hpp"

namespace nvspan::core {
namespace {

// What a terminal would obey rather than show: control characters, and those that turn the
// direction of the text around.
bool is_control(std::uint32_t code_point) {
  return code_point < 0x20 || (code_point >= 0x7F && code_point < 0xA0) ||
         (code_point >= 0x200E && code_point <= 0x200F) ||
         (code_point >= 0x2028 && code_point <= 0x202E) ||
         (code_point >= 0x2066 && code_point <= 0x2069);
}

std::size_t width_of(std::uint32_t c) {
  if (c < 0x300) return 1;
  if (c <= 0x36F || c == 0x200B || c == 0x200D || (c >= 0xFE00 && c <= 0xFE0F)) return 0;
  const bool wide = (c >= 0x1100 && c <= 0x115F) || (c >= 0x2E80 && c <= 0xA4CF) ||
                    (c >= 0xAC00 && c <= 0xD7A3) || (c >= 0xF900 && c <= 0xFAFF) ||
                    (c >= 0xFE30 && c <= 0xFE6F) || (c >= 0xFF00 && c <= 0xFF60) ||
                    (c >= 0xFFE0 && c <= 0xFFE6) || (c >= 0x1F300 && c <= 0x1FAFF) ||
                    (c >= 0x20000 && c <= 0x3FFFD);
  return wide ? 2 : 1;
}

std::size_t add_escaped(LineBuffer& line, std::uint32_t code_point) {
  if (code_point == '\n' || code_point == '\t' || code_point == '\r') {
    line.add(code_point == '\n' ? "\\n" : code_point == '\t' ? "\\t" : "\\r");
    return 2;
  }
  const char bytes[2] = {static_cast<char>(code_point >> 8), static_cast<char>(code_point & 0xFF)};
  const bool small = code_point < 0x100;
  line.add(small ? "\\x" : "\\u");
  line.add_hex(std::string_view(bytes + (small ? 1 : 0), small ? 1 : 2));
  return small ? 4 : 6;
}

// Takes the first character off the text, adds it if there is a line, and returns its columns.
std::size_t take_character(std::string_view& text, LineBuffer* line) {
  std::uint32_t code_point = 0;
  std::size_t length = decode_utf8(text, code_point);
  const bool escaped = length == 0 || is_control(code_point);
  if (length == 0) {
    code_point = static_cast<unsigned char>(text[0]);
    length = 1;
  }
  const std::string_view taken = text.substr(0, length);
  text.remove_prefix(length);
  if (escaped && line != nullptr) return add_escaped(*line, code_point);
  if (escaped) {
    const bool letter = code_point == '\n' || code_point == '\t' || code_point == '\r';
    return letter ? 2 : code_point < 0x100 ? 4 : 6;
  }
  if (line != nullptr) line->add(taken);
  return width_of(code_point);
}

}  // namespace

std::size_t add_printable(LineBuffer& line, std::string_view text, std::size_t limit) {
  const std::size_t total = text.size();
  std::size_t columns = 0;
  for (std::size_t shown = 0; !text.empty(); ++shown) {
    if (shown == limit) {
      const std::size_t before = line.size();
      line.add("... (");
      line.add_unsigned(total);
      line.add(" bytes)");
      return columns + line.size() - before;
    }
    columns += take_character(text, &line);
  }
  return columns;
}

std::size_t add_shortened(LineBuffer& line, std::string_view text, std::size_t columns,
                          std::string_view mark) {
  std::size_t left = 0;
  for (std::string_view rest = text; !rest.empty();) left += take_character(rest, nullptr);
  if (left <= columns) return add_printable(line, text, text.size());
  std::size_t taken = 0;
  for (const std::size_t head = (columns - 1) / 2; !text.empty();) {
    std::string_view rest = text;
    const std::size_t width = take_character(rest, nullptr);
    if (taken + width > head) break;
    taken += take_character(text, &line);
    left -= width;
  }
  line.add(mark);
  ++taken;
  while (taken + left > columns) left -= take_character(text, nullptr);
  return taken + add_printable(line, text, text.size());
}

}  // namespace nvspan::core
