// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace nvspan::core {

// The length of the valid UTF-8 sequence that `text` starts with, and its code point; 0 when the
// first byte starts none (overlong forms, surrogates and anything past U+10FFFF count as invalid).
inline std::size_t decode_utf8(std::string_view text, std::uint32_t& code_point) noexcept {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const auto tail = [&](std::size_t i) { return i < text.size() && (byte(i) & 0xC0) == 0x80; };
  if (text.empty()) return 0;
  const std::uint32_t first = byte(0);
  if (first < 0x80) {
    code_point = first;
    return 1;
  }
  if (first >= 0xC2 && first <= 0xDF && tail(1)) {
    code_point = (first & 0x1F) << 6 | (byte(1) & 0x3Fu);
    return 2;
  }
  if (first >= 0xE0 && first <= 0xEF && tail(1) && tail(2)) {
    code_point = (first & 0x0F) << 12 | (byte(1) & 0x3Fu) << 6 | (byte(2) & 0x3Fu);
    const bool valid = code_point >= 0x800 && (code_point < 0xD800 || code_point > 0xDFFF);
    return valid ? 3 : 0;
  }
  if (first >= 0xF0 && first <= 0xF4 && tail(1) && tail(2) && tail(3)) {
    code_point =
        (first & 0x07) << 18 | (byte(1) & 0x3Fu) << 12 | (byte(2) & 0x3Fu) << 6 | (byte(3) & 0x3Fu);
    return code_point >= 0x10000 && code_point <= 0x10FFFF ? 4 : 0;
  }
  return 0;
}

// Valid UTF-8: a byte that is none is written as Python writes its surrogate, "\udcff".
inline std::string repaired_utf8(std::string_view text) {
  std::string repaired;
  while (!text.empty()) {
    std::uint32_t code_point = 0;
    const std::size_t size = decode_utf8(text, code_point);
    if (size == 0) {
      constexpr char digits[] = "0123456789abcdef";
      const auto byte = static_cast<unsigned char>(text[0]);
      repaired += "\\udc";
      repaired += digits[byte >> 4];
      repaired += digits[byte & 15];
    } else {
      repaired += text.substr(0, size);
    }
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return repaired;
}

// Valid UTF-8: a byte that is none becomes U+FFFD.
inline std::string replaced_utf8(std::string_view text) {
  std::string valid;
  while (!text.empty()) {
    std::uint32_t code_point = 0;
    const std::size_t size = decode_utf8(text, code_point);
    valid += size == 0 ? "\xEF\xBF\xBD" : text.substr(0, size);
    text.remove_prefix(size == 0 ? 1 : size);
  }
  return valid;
}

// Appends to `out` (a string or a LineBuffer's adder) through `add(char)`. A surrogate keeps its
// three-byte form, so that nothing is lost; anything past U+10FFFF becomes U+FFFD.
template <typename Add>
void encode_utf8(std::uint32_t code_point, Add&& add) {
  if (code_point > 0x10FFFF) code_point = 0xFFFD;
  if (code_point < 0x80) {
    add(static_cast<char>(code_point));
  } else if (code_point < 0x800) {
    add(static_cast<char>(0xC0 | code_point >> 6));
    add(static_cast<char>(0x80 | (code_point & 0x3F)));
  } else if (code_point < 0x10000) {
    add(static_cast<char>(0xE0 | code_point >> 12));
    add(static_cast<char>(0x80 | (code_point >> 6 & 0x3F)));
    add(static_cast<char>(0x80 | (code_point & 0x3F)));
  } else {
    add(static_cast<char>(0xF0 | code_point >> 18));
    add(static_cast<char>(0x80 | (code_point >> 12 & 0x3F)));
    add(static_cast<char>(0x80 | (code_point >> 6 & 0x3F)));
    add(static_cast<char>(0x80 | (code_point & 0x3F)));
  }
}

}  // namespace nvspan::core
