// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/text/line_buffer.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace nvspan::core {

// Adds printable text, at most `limit` characters of it, and returns the columns that it takes.
std::size_t add_printable(LineBuffer& line, std::string_view text, std::size_t limit);

// Likewise, in at most so many columns: of a longer text `mark`, which takes one column, stands for
// the middle. What tells names apart is often at their end.
std::size_t add_shortened(LineBuffer& line, std::string_view text, std::size_t columns,
                          std::string_view mark);

// UTF-8 text with "\x1b" for each character that a terminal would obey rather than show.
inline std::string plain_text(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  const auto escape = [&](unsigned char code) {
    constexpr char digits[] = "0123456789abcdef";
    plain += "\\x";
    plain += digits[code >> 4];
    plain += digits[code & 15];
  };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const auto next = static_cast<unsigned char>(i + 1 < text.size() ? text[i + 1] : 0);
    if (byte < 0x20 || byte == 0x7F) {
      escape(byte);
    } else if (byte == 0xC2 && next >= 0x80 && next < 0xA0) {  // U+0080 to U+009F
      escape(next);
      ++i;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

}  // namespace nvspan::core
