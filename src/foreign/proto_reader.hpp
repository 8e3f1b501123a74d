// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Messages of protobuf, field by field.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace nvspan::foreign {

// The fields of a message, one after the other.
class ProtoReader {
 public:
  explicit ProtoReader(std::string_view bytes) : left_(bytes) {}

  // False: there are no more, or what follows is no field; then bad() tells.
  bool next() {
    if (left_.empty()) return false;
    std::uint64_t tag = 0;
    bad_ = !varint(tag);
    if (bad_) return false;
    field = static_cast<std::uint32_t>(tag >> 3);
    wire = static_cast<unsigned>(tag & 7);
    number = 0;
    bytes = {};
    std::size_t size = 0;
    switch (wire) {
      case 0:
        bad_ = !varint(number);
        return !bad_;
      case 1:
      case 5:
        size = wire == 1 ? 8 : 4;
        bad_ = left_.size() < size;
        if (bad_) return false;
        std::memcpy(&number, left_.data(), size);
        left_.remove_prefix(size);
        return true;
      case 2: {
        std::uint64_t length = 0;
        bad_ = !varint(length) || length > left_.size();
        if (bad_) return false;
        bytes = left_.substr(0, static_cast<std::size_t>(length));
        left_.remove_prefix(bytes.size());
        return true;
      }
      default:
        bad_ = true;
        return false;
    }
  }
  bool bad() const noexcept { return bad_; }

  std::uint32_t field = 0;
  unsigned wire = 0;
  std::uint64_t number = 0;
  std::string_view bytes;

 private:
  bool varint(std::uint64_t& out) {
    out = 0;
    for (unsigned shift = 0; shift < 64 && !left_.empty(); shift += 7) {
      const auto byte = static_cast<unsigned char>(left_.front());
      left_.remove_prefix(1);
      out |= std::uint64_t{byte & 0x7Fu} << shift;
      if (byte < 0x80) return true;
    }
    return false;
  }

  std::string_view left_;
  bool bad_ = false;
};

enum class Varint { whole, cut, bad };

inline Varint read_varint(std::string_view bytes, std::uint64_t& out, std::size_t& size) {
  out = 0;
  for (size = 0; size < bytes.size() && size < 10; ++size) {
    const auto byte = static_cast<unsigned char>(bytes[size]);
    out |= std::uint64_t{byte & 0x7Fu} << 7 * size;
    if (byte >= 0x80) continue;
    ++size;
    return Varint::whole;
  }
  return size == 10 ? Varint::bad : Varint::cut;
}

}  // namespace nvspan::foreign
