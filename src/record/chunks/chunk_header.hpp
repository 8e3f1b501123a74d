// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/format.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::record {

// The fields of a chunk's header that describe its entries.
struct ChunkKey {
  ChunkType type;
  std::uint32_t thread = 0;
  std::uint32_t tid = 0;
  std::uint64_t number = 0;
  std::uint64_t before = 0;
};

constexpr std::size_t round_to_chunk(std::size_t bytes) {
  return (bytes + chunk_alignment - 1) / chunk_alignment * chunk_alignment;
}

// Two values that one store changes: the bytes of the chunk, and the checksum that covers them.
void set_chunk_size(ChunkHeader* chunk, std::size_t bytes) noexcept;

// Writes the header, its first word last. `place` is the chunk's offset in the file.
void write_chunk_header(ChunkHeader* chunk, const ChunkKey& key, std::size_t bytes,
                        std::uint64_t place, std::uint64_t sequence) noexcept;

// Reads the whole chunk, into which no thread may write any more; `end` is the end of its used
// part.
void seal_chunk(ChunkHeader* chunk, const void* end, std::uint64_t events, bool last) noexcept;

// Removes the seal: the chunk may be written into again.
void open_chunk(ChunkHeader* chunk) noexcept;

}  // namespace nvspan::record
