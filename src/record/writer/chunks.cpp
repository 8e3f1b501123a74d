// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Chunks of a recording: where they lie, how they begin, and how they are sealed with a checksum
// once nothing is written into them any more. The process may be killed between any two
// instructions here: a reader finds a chunk open or sealed, and FileHeader::in_hand says which
// header may be unfinished.

#include "record/file/checksum.hpp"
#include "record/writer/recorder.hpp"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
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

std::uint64_t calls_in(const ChunkHeader* chunk) {
  const auto* at = reinterpret_cast<const char*>(chunk + 1);
  const auto* end = reinterpret_cast<const char*>(chunk) + chunk->size;
  std::uint64_t calls = 0;
  for (;;) {
    const auto kind = end - at >= static_cast<std::ptrdiff_t>(sizeof(StatsCell))
                          ? *reinterpret_cast<const std::uint64_t*>(at)
                          : 0;
    if (kind == 1) calls += reinterpret_cast<const StatsCell*>(at)->count;
    if (kind != 1 && kind != 2) return calls;
    at += kind == 1 ? sizeof(StatsCell) : sizeof(StatsBlock);
  }
}

}  // namespace

void Recorder::set_in_hand(std::uint64_t offset) noexcept {
  reinterpret_cast<std::atomic<std::uint64_t>&>(segment_.header()->in_hand).store(offset);
}

void Recorder::set_size(ChunkHeader* chunk, std::size_t bytes) noexcept {
  store_summed(chunk, header_sum_offset - sizeof(std::uint32_t), static_cast<std::uint32_t>(bytes));
}

// Leaves it in hand. `sequence` is the one of a place that is used again, 0 for a new one.
void Recorder::write_chunk(ChunkHeader* chunk, const ChunkKey& key, std::size_t bytes,
                           std::uint64_t sequence) noexcept {
  FileHeader& header = *segment_.header();
  const std::uint64_t offset = segment_.offset_of(chunk);
  set_in_hand(offset);
  reopen();
  reinterpret_cast<std::atomic<std::uint64_t>&>(chunk->magic).store(0);
  if (sequence == 0) {
    sequence = ++sequence_;
    header.chunks = sequence;
    header.allocated = std::max<std::uint64_t>(header.allocated, offset + bytes);
  }
  ChunkHeader made = {};
  made.magic = chunk_magic;
  made.type = static_cast<std::uint32_t>(key.type);
  made.thread = key.thread;
  made.tid = key.tid;
  made.place = static_cast<std::uint32_t>(offset / chunk_alignment);
  made.sequence = sequence;
  made.base_ticks = ticks_now();
  made.number = key.number;
  made.before = key.before;
  set_size(&made, bytes);
  constexpr std::size_t magic_bytes = sizeof made.magic;
  std::memcpy(reinterpret_cast<char*>(chunk) + magic_bytes,
              reinterpret_cast<const char*>(&made) + magic_bytes, sizeof made - magic_bytes);
  reinterpret_cast<std::atomic<std::uint64_t>&>(chunk->magic).store(chunk_magic);
}

void Recorder::start_chunk(ChunkHeader* chunk, const ChunkKey& key, std::size_t bytes,
                           std::uint64_t sequence) noexcept {
  write_chunk(chunk, key, bytes, sequence);
  set_in_hand(0);
}

// Chunks follow one another, so that a reader notices where one is gone: what could not be used
// becomes one of no thread.
char* Recorder::allocate(std::size_t bytes) noexcept {
  char* made = segment_.allocate(bytes);
  const Segment::Hole hole = segment_.take_hole();
  if (hole.bytes >= sizeof(ChunkHeader)) {
    start_chunk(reinterpret_cast<ChunkHeader*>(hole.start), ChunkKey{ChunkType::events, no_thread},
                hole.bytes);
  }
  return made;
}

// The one that was filled first and is large enough.
ChunkHeader* Recorder::take_sealed(std::size_t bytes) {
  constexpr std::size_t most_looked_at = 8;
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

// A ring has so many chunks; when they are spent the one that was filled first is emptied. Where
// other threads write into all of them, a thread empties its own, and one that has none gets a
// small one beyond the ring's size.
Recorder::Place Recorder::take_ring_place(const ThreadWriter& writer, std::size_t bytes) {
  if (bytes > ring_chunk_) return Place{};
  if (ring_left_ != 0) {
    if (char* made = allocate(ring_chunk_)) {
      --ring_left_;
      return Place{reinterpret_cast<ChunkHeader*>(made), ring_chunk_, 0};
    }
    if (sealed_head_ == sealed_.size()) report(segment_.error());
    ring_left_ = 0;
  }
  ChunkHeader* oldest = take_sealed(bytes);
  if (oldest == nullptr && writer.chunk != nullptr && writer.chunk->size >= bytes) {
    oldest = writer.chunk;
  }
  if (oldest == nullptr) {
    if (exhausted_) return Place{};
    const std::size_t size = bytes > smallest_ring_chunk ? ring_chunk_ : smallest_ring_chunk;
    char* made = allocate(size);
    if (made == nullptr) report(segment_.error());
    return Place{reinterpret_cast<ChunkHeader*>(made), size, 0};
  }
  const Place place{oldest, oldest->size, oldest->sequence};
  set_in_hand(segment_.offset_of(oldest));
  reinterpret_cast<std::atomic<std::uint64_t>&>(oldest->magic).store(0);
  std::memset(static_cast<void*>(oldest), 0, place.bytes);
  return place;
}

Recorder::Leftover Recorder::take_leftover(std::size_t bytes) {
  constexpr std::size_t most_looked_at = 8;
  const std::size_t looked_at = std::min(most_looked_at, leftovers_.size());
  for (std::size_t n = 1; n <= looked_at; ++n) {
    const std::size_t i = leftovers_.size() - n;
    if (leftovers_[i].bytes < bytes) continue;
    const Leftover found = leftovers_[i];
    leftovers_.erase(leftovers_.begin() + static_cast<std::ptrdiff_t>(i));
    return found;
  }
  return Leftover{nullptr, 0};
}

void Recorder::queue(ChunkHeader* chunk) noexcept {
  try {
    sealed_.push_back(chunk);
  } catch (...) {
    ++forgotten_chunks_;  // it keeps its events, and is not used again
  }
}

// The rest of the chunk goes to the next thread. Its header is whole before it is cut off, so that
// a walk over the chunks finds its way at any moment.
void Recorder::give_back(ThreadWriter& writer) noexcept {
  ChunkHeader* chunk = writer.chunk;
  if (cut_) {
    writer.chunk = nullptr;
    return;
  }
  if (mode_ == RecordMode::ring) {
    seal(writer, true);
    writer.chunk = nullptr;
    queue(chunk);
    return;
  }
  if (mode_ != RecordMode::full || writer.cursor == nullptr) return;
  auto* begin = reinterpret_cast<char*>(chunk);
  const auto used = static_cast<std::size_t>(reinterpret_cast<char*>(writer.cursor + 1) - begin);
  const std::size_t kept = (used + chunk_alignment - 1) / chunk_alignment * chunk_alignment;
  bool listed = false;
  if (writer.loss_entry == nullptr && kept + smallest_leftover <= chunk->size) {
    try {
      leftovers_.push_back(Leftover{begin + kept, chunk->size - kept});
      listed = true;
    } catch (...) {
      listed = false;  // it stays with this chunk
    }
  }
  if (listed) {
    // Of no thread yet: a reader skips it by its size.
    write_chunk(reinterpret_cast<ChunkHeader*>(begin + kept),
                ChunkKey{ChunkType::events, no_thread}, chunk->size - kept, 0);
    set_size(chunk, kept);
    set_in_hand(0);
  }
  seal(writer, true);
  writer.chunk = nullptr;
}

// Costs a pass over the chunk: no thread writes into it any more.
void Recorder::seal(ChunkHeader* chunk, const void* end, std::uint64_t events, bool last) noexcept {
  constexpr std::uint64_t most = 0xFFFFFFFF;
  const auto used = static_cast<std::uint32_t>(static_cast<const char*>(end) -
                                               reinterpret_cast<const char*>(chunk));
  chunk->last_ticks = ticks_now();
  chunk->events = static_cast<std::uint32_t>(std::min(events, most));
  chunk->body_sum = crc32c(chunk + 1, used - sizeof(ChunkHeader));
  store_summed(chunk, seal_offset, used | (last ? last_of_thread : 0));
}

void Recorder::unseal(ChunkHeader* chunk) noexcept {
  set_in_hand(segment_.offset_of(chunk));
  reopen();
  word_in(chunk, seal_offset).store(0);
  set_in_hand(0);
}

void Recorder::seal(const ThreadWriter& writer, bool last) noexcept {
  if (mode_ == RecordMode::stats || writer.cursor == nullptr) return;
  seal(writer.chunk, static_cast<const void*>(writer.cursor),
       writer.written - std::min(writer.written, writer.written_before), last);
}

void Recorder::seal_definitions() noexcept {
  if (definition_chunk_ != nullptr) seal(definition_chunk_, definitions_, 0, false);
}

void Recorder::seal_stats() noexcept {
  for (const StatsChunk& listed : stats_chunks_) {
    ChunkHeader* chunk = listed.chunk;
    seal(chunk, reinterpret_cast<const char*>(chunk) + chunk->size, calls_in(chunk), false);
  }
}

// Makes every thread come to the slow path before it writes again. False: one was in the middle of
// an event for so long that it is not waited for.
bool Recorder::pause(const ThreadWriter* own) noexcept {
  live_page->epoch.store(0, std::memory_order_seq_cst);
  paused_epoch_ = epoch_++;
  bool others = false;
  for (const ThreadWriter* writer = writers_; writer != nullptr; writer = writer->next) {
    others = others || (writer != own && writer->epoch == paused_epoch_);
  }
  if (!others) return true;
  fence_threads();
  constexpr std::uint64_t longest = 20 * 1000 * 1000;  // ns
  const std::uint64_t until = sample_clocks().monotonic + longest;
  for (const ThreadWriter* writer = writers_; writer != nullptr; writer = writer->next) {
    while (writer != own && writer->busy.load(std::memory_order_acquire) != 0) {
      if (sample_clocks().monotonic > until) return false;
      ::sched_yield();
    }
  }
  return true;
}

// What its thread goes on writing has no checksum until its chunk is full.
void Recorder::resume(ThreadWriter& writer) noexcept {
  writer.epoch = epoch_;
  if (writer.chunk != nullptr && mode_ != RecordMode::stats) unseal(writer.chunk);
  for (const StatsChunk& listed : stats_chunks_) {
    if (listed.writer == &writer) unseal(listed.chunk);
  }
}

void Recorder::close_header(bool sealed) noexcept {
  FileHeader& header = *segment_.header();
  constexpr std::uint64_t the_header = 1;
  set_in_hand(the_header);
  header.flags |= file_closed;
  header.allocated = segment_.end();
  if (sealed && !stats_chunks_missing_) sum_up(header);
  set_in_hand(0);
}

void Recorder::sum_up(FileHeader& header) noexcept {
  header.threads = next_thread_;
  header.events = retired_written_;
  for (const ThreadWriter* writer = writers_; writer != nullptr; writer = writer->next) {
    if (belongs(*writer)) header.events += writer->written;
  }
  header.file_bytes = segment_.end();
  header.closing_sum = closing_sum(header);
}

void Recorder::reopen() noexcept {
  FileHeader& header = *segment_.header();
  if (header.closing_sum == 0) return;
  header.closing_sum = 0;
  reinterpret_cast<std::atomic<std::uint64_t>&>(header.file_bytes).store(0);
}

void Recorder::fence_threads() noexcept {
  const bool fenced =
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
  if (!fenced) ::usleep(10000);
}

}  // namespace nvspan::record
