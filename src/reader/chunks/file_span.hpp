// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Bytes of a recording in memory, mapped or copied. An offset, size or count that comes from a file
// may have any value: whoever follows one asks a FileSpan, which adds nothing that could wrap.

#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>

namespace nvspan::reader {

class FileSpan {
 public:
  constexpr FileSpan() noexcept = default;
  FileSpan(const void* data, std::uint64_t size) noexcept
      : data_(static_cast<const char*>(data)), size_(size) {}

  const char* data() const noexcept { return data_; }
  std::uint64_t size() const noexcept { return size_; }
  bool has(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    return offset <= size_ && bytes <= size_ - offset;
  }
  // The bytes from `offset` on, at most so many; none where the span ends before it.
  FileSpan part(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    if (offset >= size_) return {};
    return {data_ + offset, std::min(bytes, size_ - offset)};
  }
  // `count` objects in place; null where the span ends before them or they are not aligned.
  template <typename T>
  const T* at(std::uint64_t offset, std::uint64_t count = 1) const noexcept {
    if (offset > size_ || count > (size_ - offset) / sizeof(T)) return nullptr;
    const char* const found = data_ + offset;
    const bool aligned = reinterpret_cast<std::uintptr_t>(found) % alignof(T) == 0;
    return aligned ? reinterpret_cast<const T*>(found) : nullptr;
  }
  bool read(std::uint64_t offset, void* to, std::uint64_t bytes) const noexcept {
    if (!has(offset, bytes)) return false;
    std::memcpy(to, data_ + offset, bytes);
    return true;
  }

 private:
  const char* data_ = nullptr;
  std::uint64_t size_ = 0;
};

}  // namespace nvspan::reader
