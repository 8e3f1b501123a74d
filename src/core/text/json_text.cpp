// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/text/json_text.hpp"

#include "core/text/number_text.hpp"
#include "core/text/utf8.hpp"

#include <cstdint>

namespace nvspan::core {
namespace {

void add_unit(LineBuffer& line, std::uint32_t unit) {
  const char bytes[2] = {static_cast<char>(unit >> 8), static_cast<char>(unit & 0xFF)};
  line.add("\\u");
  line.add_hex(std::string_view(bytes, 2));
}

}  // namespace

void add_json_string(LineBuffer& line, std::string_view text) {
  if (text.data() == nullptr) {
    line.add("null");
    return;
  }
  line.add('"');
  while (!text.empty()) {
    std::uint32_t code_point = 0;
    const std::size_t length = decode_utf8(text, code_point);
    if (length == 0) {
      add_unit(line, 0xDC00u + static_cast<unsigned char>(text[0]));
    } else if (code_point == '"' || code_point == '\\') {
      line.add('\\');
      line.add(static_cast<char>(code_point));
    } else if (code_point == '\n') {
      line.add("\\n");
    } else if (code_point == '\t') {
      line.add("\\t");
    } else if (code_point >= 0x20 && code_point < 0x7F) {
      line.add(static_cast<char>(code_point));
    } else if (code_point < 0x10000) {
      add_unit(line, code_point);
    } else {
      add_unit(line, 0xD800u + ((code_point - 0x10000) >> 10));
      add_unit(line, 0xDC00u + ((code_point - 0x10000) & 0x3FF));
    }
    text.remove_prefix(length == 0 ? 1 : length);
  }
  line.add('"');
}

void add_json_real(LineBuffer& line, double value) {
  if (add_real(line, value)) return;
  line.add('"');
  line.add(not_finite_name(value));
  line.add('"');
}

}  // namespace nvspan::core
