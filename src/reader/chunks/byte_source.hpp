// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A recording's bytes, wherever they are, and the chunks in them.

#pragma once

#include "core/immovable.hpp"
#include "reader/chunks/file_span.hpp"
#include "record/file/format.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace nvspan::reader {

// Whether this is the header of a chunk at `offset`: all of it but the seal.
bool is_chunk_header(const record::ChunkHeader& header, std::uint64_t offset) noexcept;

class ByteSource : public core::Immovable {
 public:
  virtual ~ByteSource() = default;

  virtual std::uint64_t size() const noexcept = 0;  // now
  std::uint64_t size_from(std::uint64_t offset) const noexcept {
    const std::uint64_t end = size();
    return end - std::min(offset, end);
  }
  // The bytes from `offset` on, at most so many, until the next call.
  virtual FileSpan bytes(std::uint64_t offset, std::uint64_t most) = 0;
  // A copy. False: not all of them are there.
  virtual bool read(std::uint64_t offset, void* to, std::size_t bytes) = 0;

  // False: no chunk begins there.
  bool chunk_at(std::uint64_t offset, record::ChunkHeader& header) {
    return read(offset, &header, sizeof header) && is_chunk_header(header, offset);
  }
  // Calls use(offset, header) for `newest` and the chunks that it leads to by ChunkHeader::before,
  // until that says false. False: what it leads to is no chunk, or does not lie before it.
  template <typename Use>
  bool each_chunk(std::uint64_t newest, Use&& use) {
    std::uint64_t limit = ~std::uint64_t{0};
    for (std::uint64_t offset = newest; offset != 0;) {
      record::ChunkHeader header = {};
      if (offset >= limit || !chunk_at(offset, header)) return false;
      if (!use(offset, header)) return true;
      limit = offset;
      offset = header.before;
    }
    return true;
  }
};

}  // namespace nvspan::reader
