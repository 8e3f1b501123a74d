// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/chunks/chunk_pool.hpp"

#include "record/file/fault_guard.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::record {
namespace {

constexpr std::size_t smallest_ring_chunk = 16 * 1024;
constexpr std::size_t largest_ring_chunk = 256 * 1024;
constexpr std::size_t ring_unit = 4096;   // chunks of a ring are a multiple of it
constexpr std::size_t smallest_ring = 4;  // chunks
constexpr std::uint32_t largest_chunk = 1024 * 1024;
constexpr std::size_t most_looked_at = 8;

}  // namespace

void ChunkPool::restart() noexcept {
  clear();
  sequence_ = 0;
  ring_made_ = 0;
  begin_ring();
}

void ChunkPool::begin_ring() noexcept {
  const std::uint64_t ring_bytes = file_.options().ring_bytes;
  ring_chunk_ = std::clamp<std::size_t>(ring_bytes / 64 / ring_unit * ring_unit,
                                        smallest_ring_chunk, largest_ring_chunk);
  const std::size_t wanted = std::max<std::size_t>(ring_bytes / ring_chunk_, smallest_ring);
  ring_left_ = wanted - std::min(wanted, ring_made_);
}

void ChunkPool::clear() noexcept {
  leftovers_.clear();
  sealed_.clear();
  sealed_head_ = 0;
}

// Leaves it in hand. `sequence` is that of a place that is reused, 0 for a new place.
void ChunkPool::begin(ChunkHeader* chunk, const ChunkKey& key, std::size_t bytes,
                      std::uint64_t sequence) noexcept {
  FileHeader& header = file_.header();
  const std::uint64_t offset = file_.segment().offset_of(chunk);
  file_.set_in_hand(offset);
  file_.reopen();
  atomic_word(chunk->magic).store(0);
  if (sequence == 0) {
    sequence = ++sequence_;
    header.chunks = sequence;
    header.allocated = std::max<std::uint64_t>(header.allocated, offset + bytes);
  }
  write_chunk_header(chunk, key, bytes, offset, sequence);
}

void ChunkPool::start(ChunkHeader* chunk, const ChunkKey& key, std::size_t bytes,
                      std::uint64_t sequence) noexcept {
  begin(chunk, key, bytes, sequence);
  file_.set_in_hand(0);
}

void ChunkPool::unseal(ChunkHeader* chunk) noexcept {
  file_.set_in_hand(file_.segment().offset_of(chunk));
  file_.reopen();
  open_chunk(chunk);
  file_.set_in_hand(0);
}

// Chunks follow one another, so that a reader notices a missing one: space that could not be used
// becomes a chunk that belongs to no thread.
char* ChunkPool::try_allocate(std::size_t bytes) noexcept {
  char* space = file_.segment().allocate(bytes);
  const Segment::Hole hole = file_.segment().take_hole();
  if (hole.bytes >= sizeof(ChunkHeader)) {
    start(reinterpret_cast<ChunkHeader*>(hole.start), ChunkKey{ChunkType::events, no_thread},
          hole.bytes);
  }
  return space;
}

char* ChunkPool::allocate(std::size_t bytes) noexcept {
  char* space = try_allocate(bytes);
  if (space == nullptr) file_.report_exhausted();
  return space;
}

ChunkPool::Place ChunkPool::take(std::size_t needed, ChunkHeader* own,
                                 std::uint32_t& usual) noexcept {
  if (file_.mode() == RecordMode::ring) return take_in_ring(needed, own);
  if (file_.is_exhausted() && needed >= smallest_leftover) return Place{};
  const Place leftover = take_leftover(std::max(needed, smallest_leftover));
  if (leftover.chunk != nullptr || file_.is_exhausted()) return leftover;
  const Place place = take_new(round_to_chunk(std::max<std::size_t>(needed, usual)));
  if (place.chunk != nullptr) usual = std::min(4 * usual, largest_chunk);
  return place;
}

ChunkPool::Place ChunkPool::take_new(std::size_t bytes) noexcept {
  return Place{reinterpret_cast<ChunkHeader*>(allocate(bytes)), bytes, 0};
}

ChunkPool::Place ChunkPool::take_leftover(std::size_t bytes) noexcept {
  const std::size_t looked_at = std::min(most_looked_at, leftovers_.size());
  for (std::size_t n = 1; n <= looked_at; ++n) {
    const std::size_t i = leftovers_.size() - n;
    if (leftovers_[i].bytes < bytes) continue;
    const Leftover found = leftovers_[i];
    leftovers_.erase(leftovers_.begin() + static_cast<std::ptrdiff_t>(i));
    auto* chunk = reinterpret_cast<ChunkHeader*>(found.start);
    return Place{chunk, found.bytes, chunk->sequence};
  }
  return Place{};
}

// A ring has a fixed number of chunks; when they are full, the oldest is emptied. Where
// other threads write into all of them, a thread empties its own, and one that has none gets a
// small one beyond the ring's size.
ChunkPool::Place ChunkPool::take_in_ring(std::size_t needed, ChunkHeader* own) noexcept {
  if (needed > ring_chunk_) return Place{};
  if (ring_left_ != 0) {
    if (char* space = try_allocate(ring_chunk_)) {
      --ring_left_;
      ++ring_made_;
      return Place{reinterpret_cast<ChunkHeader*>(space), ring_chunk_, 0};
    }
    if (sealed_head_ == sealed_.size()) file_.report_exhausted();
    ring_left_ = 0;
  }
  ChunkHeader* oldest = take_sealed(needed);
  if (oldest == nullptr && own != nullptr && own->size >= needed) oldest = own;
  if (oldest == nullptr) {
    if (file_.is_exhausted()) return Place{};
    return take_new(needed > smallest_ring_chunk ? ring_chunk_ : smallest_ring_chunk);
  }
  return empty(oldest);
}

ChunkPool::Place ChunkPool::empty(ChunkHeader* chunk) noexcept {
  const Place place{chunk, chunk->size, chunk->sequence};
  file_.set_in_hand(file_.segment().offset_of(chunk));
  atomic_word(chunk->magic).store(0);
  std::memset(static_cast<void*>(chunk), 0, place.bytes);
  return place;
}

// The oldest one that is large enough.
ChunkHeader* ChunkPool::take_sealed(std::size_t bytes) noexcept {
  const auto begin = sealed_.begin() + static_cast<std::ptrdiff_t>(sealed_head_);
  const auto end =
      begin + static_cast<std::ptrdiff_t>(std::min(most_looked_at, sealed_.size() - sealed_head_));
  const auto found =
      std::find_if(begin, end, [&](const ChunkHeader* chunk) { return chunk->size >= bytes; });
  if (found == end) return nullptr;
  ChunkHeader* oldest = *found;
  std::move_backward(begin, found, found + 1);
  if (++sealed_head_ > 1024) {
    sealed_.erase(sealed_.begin(), sealed_.begin() + static_cast<std::ptrdiff_t>(sealed_head_));
    sealed_head_ = 0;
  }
  return oldest;
}

void ChunkPool::queue(ChunkHeader* chunk) noexcept {
  try {
    sealed_.push_back(chunk);
  } catch (...) {
    return;  // it keeps its events, and is not used again
  }
}

// The rest's header is whole before it is cut off, so that a reader that goes from chunk to chunk
// never meets an unfinished one.
void ChunkPool::keep_leftover(ChunkHeader* chunk, std::size_t used) noexcept {
  const std::size_t kept = round_to_chunk(used);
  if (kept + smallest_leftover > chunk->size) return;
  auto* rest = reinterpret_cast<char*>(chunk) + kept;
  const std::size_t bytes = chunk->size - kept;
  try {
    leftovers_.push_back(Leftover{rest, bytes});
  } catch (...) {
    return;  // it stays with this chunk
  }
  // It belongs to no thread yet: a reader skips it by its size.
  begin(reinterpret_cast<ChunkHeader*>(rest), ChunkKey{ChunkType::events, no_thread}, bytes, 0);
  set_chunk_size(chunk, kept);
  file_.set_in_hand(0);
}

}  // namespace nvspan::record
