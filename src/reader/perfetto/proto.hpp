// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The wire format of protocol buffers, as far as writing needs it.

#pragma once

#include "core/text/utf8.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace nvspan::reader {

class ProtoBytes {
 public:
  void clear() noexcept { bytes_.clear(); }
  bool empty() const noexcept { return bytes_.empty(); }
  std::string_view view() const noexcept { return bytes_; }

  void varint(std::uint64_t value) {
    char encoded[10];
    std::size_t size = 0;
    while (value >= 0x80) {
      encoded[size++] = static_cast<char>(value | 0x80);
      value >>= 7;
    }
    encoded[size++] = static_cast<char>(value);
    bytes_.append(encoded, size);
  }
  void number(unsigned field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3);
    varint(value);
  }
  void fixed(unsigned field, std::uint64_t value) {
    varint(std::uint64_t{field} << 3 | 1);
    char bits[sizeof value];
    std::memcpy(bits, &value, sizeof value);
    bytes_.append(bits, sizeof bits);
  }
  void real(unsigned field, double value) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &value, sizeof bits);
    fixed(field, bits);
  }
  void bytes(unsigned field, std::string_view value) {
    varint(std::uint64_t{field} << 3 | 2);
    varint(value.size());
    bytes_.append(value);
  }
  void message(unsigned field, const ProtoBytes& value) { bytes(field, value.view()); }
  // What is not UTF-8 becomes U+FFFD: a reader may refuse it.
  void text(unsigned field, std::string_view value) { bytes(field, core::replaced_utf8(value)); }
  void raw(std::string_view value) { bytes_.append(value); }

 private:
  std::string bytes_;
};

}  // namespace nvspan::reader
