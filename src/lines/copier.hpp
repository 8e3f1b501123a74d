// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/immovable.hpp"
#include "lines/interpreter.hpp"

#include <sys/types.h>
#include <sys/uio.h>

#include <cstddef>
#include <cstdint>

namespace nvspan::lines {

inline iovec range_of(Address address, std::size_t bytes) noexcept {
  return {reinterpret_cast<void*>(address), bytes};
}

// Copies memory of this process that may not be there: a wrong address ends the copy, and is no
// fault. The kernel does it, without a right that a container may lack.
class MemoryCopier : public core::Immovable {
 public:
  static constexpr std::size_t most_bytes = 256 << 10;

  // By which call, the quickest first; each is tried with a good and a bad address.
  enum class Method : std::uint8_t { memory_file, process_read, pipe, own_memory };
  static constexpr int methods = 4;

  MemoryCopier() = default;
  ~MemoryCopier() { close(); }

  bool open() noexcept;  // false: none works here
  bool open(Method method) noexcept;
  // In a forked child, whose memory it does not know.
  void forget() noexcept;

  // Copies the ranges one after the other into bytes(), and returns how many bytes there are
  // before the first that cannot be read.
  std::size_t copy(const iovec* ranges, std::size_t count) noexcept;
  const char* bytes() const noexcept { return buffer_; }
  bool read(Address from, void* to, std::size_t size) noexcept;

 private:
  bool prepare() noexcept;
  void close() noexcept;
  ssize_t copy_once(const iovec* ranges, std::size_t count, std::size_t bytes,
                    std::size_t at) noexcept;
  ssize_t copy_through_pipe(const iovec* ranges, std::size_t count, std::size_t at) noexcept;
  ssize_t copy_each(const iovec* ranges, std::size_t count, std::size_t at) noexcept;

  Method method_ = Method::memory_file;
  int fd_ = -1;
  int pipe_end_ = -1;  // to read from
  char* buffer_ = nullptr;
};

}  // namespace nvspan::lines
