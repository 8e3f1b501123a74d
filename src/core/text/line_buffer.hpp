// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/immovable.hpp"
#include "core/memory/page_pool.hpp"

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace nvspan::core {

// The line that a sink is building.
class LineBuffer : public Immovable {
 public:
  explicit LineBuffer(PagePool& pool) noexcept : pool_(pool) {}
  ~LineBuffer() { pool_.deallocate(data_, capacity_); }

  const char* data() const noexcept { return data_; }
  std::size_t size() const noexcept { return size_; }

  // Empties it; a buffer that one huge line left behind is given back.
  void clear() noexcept {
    size_ = 0;
    if (capacity_ > kept_capacity) {
      pool_.deallocate(data_, capacity_);
      data_ = nullptr;
      capacity_ = 0;
    }
  }

  // Takes back what was added since it had that size.
  void cut(std::size_t size) noexcept { size_ = size < size_ ? size : size_; }

  void add(char byte) {
    reserve(1);
    data_[size_++] = byte;
  }
  void add(std::string_view text) {
    if (text.empty()) return;
    reserve(text.size());
    std::memcpy(data_ + size_, text.data(), text.size());
    size_ += text.size();
  }
  void fill(std::size_t count, char byte) {
    reserve(count);
    std::memset(data_ + size_, byte, count);
    size_ += count;
  }
  void add_unsigned(std::uint64_t value) {
    char digits[20];
    std::size_t at = sizeof digits;
    do {
      digits[--at] = static_cast<char>('0' + value % 10);
      value /= 10;
    } while (value != 0);
    add(std::string_view(digits + at, sizeof digits - at));
  }
  void add_signed(std::int64_t value) {
    if (value < 0) add('-');
    add_unsigned(value < 0 ? 0 - static_cast<std::uint64_t>(value)
                           : static_cast<std::uint64_t>(value));
  }
  void add_hex(std::string_view bytes) {
    constexpr char digits[] = "0123456789abcdef";
    reserve(2 * bytes.size());
    for (const char byte : bytes) {
      const auto value = static_cast<unsigned char>(byte);
      data_[size_++] = digits[value >> 4];
      data_[size_++] = digits[value & 15];
    }
  }

 private:
  static constexpr std::size_t first_capacity = 4096;
  static constexpr std::size_t kept_capacity = 1024 * 1024;

  void reserve(std::size_t more) {
    if (capacity_ - size_ >= more) return;
    std::size_t wanted = capacity_ == 0 ? first_capacity : 2 * capacity_;
    while (wanted - size_ < more) wanted *= 2;
    auto* grown = static_cast<char*>(pool_.allocate(wanted));
    if (size_ != 0) std::memcpy(grown, data_, size_);
    pool_.deallocate(data_, capacity_);
    data_ = grown;
    capacity_ = wanted;
  }

  PagePool& pool_;
  char* data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
};

}  // namespace nvspan::core
