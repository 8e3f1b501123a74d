// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/thread/thread_list.hpp"

#include "record/file/fault_guard.hpp"
#include "record/file/ticks.hpp"

#include <linux/membarrier.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <cstddef>
#include <cstring>
#include <new>

namespace nvspan::record {
namespace {

LivePage nothing_live;

// One word for every thread of the process; zero in a child that a fork makes.
bool make_live_page() noexcept {
  if (live_page != &nothing_live) return true;
  void* memory = ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) return false;
#ifdef MADV_WIPEONFORK
  ::madvise(memory, page, MADV_WIPEONFORK);
#endif
  live_page = new (memory) LivePage{};
  return true;
}

// What this thread stored is seen by every other one before its next load.
void fence_threads() noexcept {
  const bool fenced =
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED, 0, 0) == 0 &&
      ::syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED, 0, 0) == 0;
  if (!fenced) ::usleep(10000);
}

}  // namespace

LivePage* live_page = &nothing_live;

bool ThreadList::prepare() noexcept { return make_live_page(); }

void ThreadList::begin_epoch() noexcept {
  retired_events_ = retired_written_ = 0;
  next_thread_ = 0;
  paused_epoch_ = 0;
  ++epoch_;
  live_page->epoch.store(epoch_, std::memory_order_release);
}

void ThreadList::forget() noexcept {
  writers_ = nullptr;
  free_writers_ = nullptr;
}

ThreadWriter* ThreadList::ready(ThreadWriter* writer, std::uint32_t tid) {
  if (writer != nullptr && writer->is_live()) return writer;
  if (writer != nullptr && is_paused(*writer)) {
    resume(*writer);
    return writer;
  }
  if (writer == nullptr) writer = take_writer();
  list(writer);
  begin(*writer, tid);
  names_.thread(ThreadDefinition{writer->thread, tid, writer->base});
  return writer;
}

ThreadWriter* ThreadList::take_writer() {
  if (free_writers_ != nullptr) {
    ThreadWriter* writer = free_writers_;
    free_writers_ = writer->next_free;
    return writer;
  }
  auto* writer = static_cast<ThreadWriter*>(pool_.allocate(sizeof(ThreadWriter)));
  std::memset(static_cast<void*>(writer), 0, sizeof *writer);
  return writer;
}

void ThreadList::list(ThreadWriter* writer) noexcept {
  writer->next_free = nullptr;
  for (const ThreadWriter* at = writers_; at != nullptr; at = at->next) {
    if (at == writer) return;
  }
  writer->next = writers_;
  writers_ = writer;
}

// A writer that was used before in this recording keeps its sites and, in mode `stats`, its cells.
void ThreadList::begin(ThreadWriter& writer, std::uint32_t tid) noexcept {
  const RecordMode mode = file_.mode();
  if (writer.epoch != epoch_) {
    std::memset(static_cast<void*>(writer.cache), 0, sizeof writer.cache);
    writer.domain_count = 0;
    stats_.free_table(writer);
    writer.chunk = nullptr;
    writer.epoch = epoch_;
  }
  constexpr std::uint32_t first_chunk_bytes = 4 * 1024;
  set_mode(writer);
  writer.next_range = ++next_range_block_ << 32 | 1;
  if (mode != RecordMode::stats) writer.chunk = nullptr;
  writer.thread = next_thread_++;
  writer.tid = tid;
  writer.next_chunk_bytes = first_chunk_bytes;
  writer.chunk_count = 0;
  writer.written = 0;
  writer.lost = 0;
  writer.dropped = LossWindow{};
  writer.loss_entry = nullptr;
  writer.open_count = 0;
  writer.open_beyond = 0;
  for (std::size_t i = 0; i < writer.domain_count; ++i) writer.domains[i].depth = 0;
  if (mode != RecordMode::stats || writer.chunk == nullptr) writer.cursor = nullptr;
  writer.end = nullptr;
  writer.base = ticks_now();
  writer.live = blocks_.take(writer.thread, tid, writer.base);
  if (writer.live == nullptr) {
    writer.live = &writer.unseen;
    live_take(writer.unseen, writer.thread, tid, writer.base);
  }
  blocks_.remember(writer.next_range >> 32, writer.live);
}

void ThreadList::set_mode(ThreadWriter& writer) noexcept {
  const RecordMode mode = file_.mode();
  const auto min_duration = static_cast<double>(file_.options().min_duration);
  writer.plain = mode == RecordMode::full && file_.options().min_duration == 0;
  writer.by_handle = mode == RecordMode::armed && file_.options().all_domains;
  writer.mode = static_cast<std::uint8_t>(mode);
  writer.min_ticks =
      static_cast<std::uint64_t>(min_duration * file_.first_header().estimated_frequency / 1e9);
}

// Entries that its thread writes later have no checksum until the chunk is full.
void ThreadList::resume(ThreadWriter& writer) noexcept {
  writer.epoch = epoch_;
  if (writer.chunk != nullptr && file_.mode() != RecordMode::stats) chunks_.unseal(writer.chunk);
  stats_.unseal(writer);
}

void ThreadList::retire(ThreadWriter* writer, bool is_recording) noexcept {
  if (writer->epoch == epoch_ || is_paused(*writer)) {
    retired_events_ += writer->written + writer->lost;
    retired_written_ += writer->written;
  }
  if (is_recording && writer->epoch == epoch_ && writer->chunk != nullptr) {
    entries_.write_losses(*writer);
    writer->chunk->end_ticks = ticks_now();
    if (file_.mode() != RecordMode::stats) entries_.give_back(*writer);
  }
  if (is_recording && writer->epoch == epoch_) blocks_.give_back(writer->live, ticks_now());
  writer->live = &writer->unseen;
  writer->written = writer->lost = 0;
  writer->next_free = free_writers_;
  free_writers_ = writer;
}

void ThreadList::stop(const ThreadWriter* own) noexcept {
  live_page->epoch.store(0, std::memory_order_seq_cst);
  // A writer that is still busy began before.
  fence_threads();
  for (const ThreadWriter* writer = writers_; writer != nullptr; writer = writer->next) {
    while (writer != own && writer->busy.load(std::memory_order_acquire) != 0) ::sched_yield();
  }
}

void ThreadList::give_back_chunks() noexcept {
  for (ThreadWriter* writer = writers_; writer != nullptr; writer = writer->next) {
    if (writer->epoch != epoch_ || writer->chunk == nullptr) continue;
    entries_.write_losses(*writer);
    entries_.give_back(*writer);
  }
}

bool ThreadList::pause(const ThreadWriter* own) noexcept {
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

bool ThreadList::seal_paused() noexcept {
  bool all = true;
  for (ThreadWriter* writer = writers_; writer != nullptr; writer = writer->next) {
    if (!is_paused(*writer)) continue;
    if (writer->busy.load(std::memory_order_acquire) != 0) {
      all = false;
      continue;
    }
    entries_.write_losses(*writer);
    if (writer->chunk != nullptr) entries_.seal(*writer, true);
  }
  return all;
}

void ThreadList::go_on() noexcept { live_page->epoch.store(epoch_, std::memory_order_release); }

RecordingFile::Totals ThreadList::totals() const noexcept {
  RecordingFile::Totals totals{next_thread_, retired_written_};
  for (const ThreadWriter* writer = writers_; writer != nullptr; writer = writer->next) {
    if (writer->epoch == epoch_ || is_paused(*writer)) totals.events += writer->written;
  }
  return totals;
}

std::uint64_t ThreadList::events_made() const noexcept {
  std::uint64_t events = retired_events_;
  for (const ThreadWriter* writer = writers_; writer != nullptr; writer = writer->next) {
    if (writer->epoch != epoch_ && !is_paused(*writer)) continue;
    events += __atomic_load_n(&writer->written, __ATOMIC_RELAXED) +
              __atomic_load_n(&writer->lost, __ATOMIC_RELAXED);
  }
  return events;
}

}  // namespace nvspan::record
