// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/chunks/chunk_header.hpp"

#include "record/chunks/recording_file.hpp"
#include "record/file/checksum.hpp"
#include "record/file/ticks.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

namespace nvspan::record {
namespace {

std::atomic<std::uint64_t>& word_in(ChunkHeader* chunk, std::size_t offset) {
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(reinterpret_cast<char*>(chunk) + offset);
}

// Two halves that change in one store: a number, and the checksum of the header's bytes up to
// itself, with that number in place.
void store_summed(ChunkHeader* chunk, std::size_t offset, std::uint32_t number) {
  const std::uint32_t before = crc32c(chunk, offset);
  const std::uint64_t sum = crc32c(&number, sizeof number, before);
  word_in(chunk, offset).store(number | sum << 32, std::memory_order_release);
}

}  // namespace

void set_chunk_size(ChunkHeader* chunk, std::size_t bytes) noexcept {
  store_summed(chunk, header_sum_offset - sizeof(std::uint32_t), static_cast<std::uint32_t>(bytes));
}

void write_chunk_header(ChunkHeader* chunk, const ChunkKey& key, std::size_t bytes,
                        std::uint64_t place, std::uint64_t sequence) noexcept {
  ChunkHeader header = {};
  header.magic = chunk_magic;
  header.type = static_cast<std::uint32_t>(key.type);
  header.thread = key.thread;
  header.tid = key.tid;
  header.place = static_cast<std::uint32_t>(place / chunk_alignment);
  header.sequence = sequence;
  header.base_ticks = ticks_now();
  header.number = key.number;
  header.before = key.before;
  set_chunk_size(&header, bytes);
  constexpr std::size_t magic_bytes = sizeof header.magic;
  std::memcpy(reinterpret_cast<char*>(chunk) + magic_bytes,
              reinterpret_cast<const char*>(&header) + magic_bytes, sizeof header - magic_bytes);
  atomic_word(chunk->magic).store(chunk_magic);
}

void seal_chunk(ChunkHeader* chunk, const void* end, std::uint64_t events, bool last) noexcept {
  constexpr std::uint64_t most = 0xFFFFFFFF;
  const auto used = static_cast<std::uint32_t>(static_cast<const char*>(end) -
                                               reinterpret_cast<const char*>(chunk));
  chunk->last_ticks = ticks_now();
  chunk->events = static_cast<std::uint32_t>(std::min(events, most));
  chunk->body_sum = crc32c(chunk + 1, used - sizeof(ChunkHeader));
  store_summed(chunk, seal_offset, used | (last ? last_of_thread : 0));
}

void open_chunk(ChunkHeader* chunk) noexcept { word_in(chunk, seal_offset).store(0); }

}  // namespace nvspan::record
