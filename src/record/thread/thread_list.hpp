// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/chunks/chunk_pool.hpp"
#include "record/chunks/recording_file.hpp"
#include "record/definitions/names.hpp"
#include "record/live/live_blocks.hpp"
#include "record/thread/entry_writer.hpp"
#include "record/thread/stats_writer.hpp"
#include "record/thread/thread_writer.hpp"

#include <cstdint>

namespace nvspan::record {

// The writers of all threads, and the epoch by which each of them knows whether it may write: it is
// zero while the recording is closed or the process ends, and in a forked child.
class ThreadList {
 public:
  ThreadList(core::PagePool& pool, RecordingFile& file, ChunkPool& chunks, NameDefinitions& names,
             EntryWriter& entries, StatsWriter& stats, LiveBlocks& blocks)
      : pool_(pool),
        file_(file),
        chunks_(chunks),
        names_(names),
        entries_(entries),
        stats_(stats),
        blocks_(blocks) {}

  // A recording begins and its writers may write. False: no memory for the page that all share.
  bool prepare() noexcept;
  void begin_epoch() noexcept;
  std::uint64_t epoch() const noexcept { return epoch_; }

  // What a writer does in the recording's mode, after begin() and where that has changed.
  void set_mode(ThreadWriter& writer) noexcept;

  // A writer for the calling thread, for `writer`'s place in its thread-local storage.
  ThreadWriter* ready(ThreadWriter* writer, std::uint32_t tid);
  // Its thread ended.
  void retire(ThreadWriter* writer, bool is_recording) noexcept;
  // In a forked child: the other threads do not exist here.
  void forget() noexcept;

  // No thread writes after this call, which waits for threads in the middle of an event. `own` is
  // the caller's writer and is not waited for.
  void stop(const ThreadWriter* own) noexcept;
  void give_back_chunks() noexcept;

  // The process ends: every thread takes the slow path before it writes again. False: one was in
  // the middle of an event for so long that it is not waited for.
  bool pause(const ThreadWriter* own) noexcept;
  bool is_paused(const ThreadWriter& writer) const noexcept {
    return paused_epoch_ != 0 && writer.epoch == paused_epoch_;
  }
  bool seal_paused() noexcept;  // false: not that of a thread that is in the middle of an event
  void go_on() noexcept;

  RecordingFile::Totals totals() const noexcept;  // of what is kept
  std::uint64_t events_made() const noexcept;     // kept or not

 private:
  ThreadWriter* take_writer();
  void list(ThreadWriter* writer) noexcept;
  void begin(ThreadWriter& writer, std::uint32_t tid) noexcept;
  void resume(ThreadWriter& writer) noexcept;

  core::PagePool& pool_;
  RecordingFile& file_;
  ChunkPool& chunks_;
  NameDefinitions& names_;
  EntryWriter& entries_;
  StatsWriter& stats_;
  LiveBlocks& blocks_;
  std::uint64_t epoch_ = 0;
  std::uint64_t paused_epoch_ = 0;  // of the writers that the process's exit has paused
  std::uint32_t next_thread_ = 0;
  std::uint64_t next_range_block_ = 0;
  std::uint64_t retired_events_ = 0;   // of threads that have ended, kept or not
  std::uint64_t retired_written_ = 0;  // those of them that are kept
  ThreadWriter* writers_ = nullptr;
  ThreadWriter* free_writers_ = nullptr;
};

}  // namespace nvspan::record
