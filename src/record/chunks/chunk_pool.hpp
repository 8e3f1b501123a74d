// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/chunks/chunk_header.hpp"
#include "record/chunks/recording_file.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::record {

// Places chunks in the file: at its end, in the unused part of an ended thread's last chunk, and in
// a ring in place of the oldest chunk. Its owner's lock guards it.
//
// The process may be killed between any two instructions here: a reader finds each chunk open or
// sealed, and FileHeader::in_hand says which header may be unfinished.
class ChunkPool {
 public:
  static constexpr std::size_t smallest_leftover = 2 * 1024;

  ChunkPool(core::PagePool& pool, RecordingFile& file)
      : file_(file), leftovers_(pool), sealed_(pool) {}

  void restart() noexcept;  // for a new file
  void clear() noexcept;
  void begin_ring() noexcept;  // the mode has become `ring`

  struct Place {
    ChunkHeader* chunk = nullptr;
    std::size_t bytes = 0;
    std::uint64_t sequence = 0;  // 0: nothing was there before
  };
  // For a thread's entries: `needed` bytes, the header included, or no chunk, where there is no
  // space. `own` is the chunk that the thread fills now; `usual` is how large its next one is,
  // which grows.
  Place take(std::size_t needed, ChunkHeader* own, std::uint32_t& usual) noexcept;
  // The place of a chunk whose content is no longer wanted.
  Place empty(ChunkHeader* chunk) noexcept;

  // New space; null, after an error line, if the file cannot grow.
  char* allocate(std::size_t bytes) noexcept;
  void start(ChunkHeader* chunk, const ChunkKey& key, std::size_t bytes,
             std::uint64_t sequence = 0) noexcept;
  void unseal(ChunkHeader* chunk) noexcept;

  // Leaves the chunk's bytes past `used` to the next thread, if they are enough.
  void keep_leftover(ChunkHeader* chunk, std::size_t used) noexcept;
  // A sealed chunk of a ring, which is emptied when it is the oldest.
  void queue(ChunkHeader* chunk) noexcept;

  // How many chunks a ring has when it is full.
  std::size_t ring_chunks() const noexcept { return ring_made_ + ring_left_; }
  // How many places were assigned.
  std::uint64_t places() const noexcept { return sequence_; }

 private:
  struct Leftover {
    char* start;
    std::size_t bytes;
  };

  char* try_allocate(std::size_t bytes) noexcept;
  void begin(ChunkHeader* chunk, const ChunkKey& key, std::size_t bytes,
             std::uint64_t sequence) noexcept;
  Place take_new(std::size_t bytes) noexcept;
  Place take_leftover(std::size_t bytes) noexcept;
  Place take_in_ring(std::size_t needed, ChunkHeader* own) noexcept;
  ChunkHeader* take_sealed(std::size_t bytes) noexcept;

  RecordingFile& file_;
  std::uint64_t sequence_ = 0;
  core::PoolVector<Leftover> leftovers_;
  core::PoolVector<ChunkHeader*> sealed_;  // ring: the oldest first, from sealed_head_
  std::size_t sealed_head_ = 0;
  std::size_t ring_left_ = 0;   // how many chunks a ring may still add
  std::size_t ring_chunk_ = 0;  // bytes of each
  std::size_t ring_made_ = 0;   // how many it has added
};

}  // namespace nvspan::record
