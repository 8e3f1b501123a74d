// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/chunks/chunk_pool.hpp"
#include "record/chunks/recording_file.hpp"
#include "record/definitions/names.hpp"
#include "record/thread/entry_writer.hpp"
#include "record/thread/thread_writer.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::record {

// Mode `stats`: creates the cells in which a thread counts, and pairs starts with their ends. Once
// a cell is there, ThreadWriter::count() does the rest.
class StatsWriter {
 public:
  StatsWriter(core::PagePool& pool, RecordingFile& file, ChunkPool& chunks, NameDefinitions& names,
              EntryWriter& entries)
      : pool_(pool),
        file_(file),
        chunks_(chunks),
        names_(names),
        entries_(entries),
        started_(pool),
        listed_(pool) {}

  void clear() noexcept;

  void count(ThreadWriter& writer, std::uint32_t site, EntryKind kind, std::uint64_t ticks,
             std::uint64_t self, std::uint64_t same);
  // Creates what ThreadWriter::count_awaited() needs. False: there is no space.
  bool prepare_awaited(ThreadWriter& writer, const OpenPush& range, bool counts);
  // Of a start/end range that has no place in its thread's block.
  void start(std::uint64_t id, std::uint32_t site, std::uint64_t ticks);
  // `place` is that of LiveBlock, null where the range has none.
  void end(ThreadWriter& writer, std::uint64_t id, std::uint64_t ticks, LiveStart* place);

  // The writer now belongs to another thread or another recording.
  void free_table(ThreadWriter& writer) noexcept;

  void seal() noexcept;
  void unseal(const ThreadWriter& writer) noexcept;
  // Whether seal() knows of every chunk.
  bool is_complete() const noexcept { return !chunks_missing_; }

 private:
  struct OpenStart {
    std::uint64_t ticks;
    std::uint32_t site;
  };
  struct Listed {
    ChunkHeader* chunk;
    const ThreadWriter* writer;
  };

  void make_room(StatsTable& table);
  StatsSlot* add_cell(ThreadWriter& writer, std::uint32_t site, EntryKind kind);
  // Of a slot that may have it already. False: there is no space.
  bool add_block(ThreadWriter& writer, StatsSlot& slot, unsigned octave);
  bool add_nested(ThreadWriter& writer, StatsSlot& slot);
  bool add_awaited(ThreadWriter& writer, StatsSlot& slot);
  char* take(ThreadWriter& writer, std::size_t bytes);

  core::PagePool& pool_;
  RecordingFile& file_;
  ChunkPool& chunks_;
  NameDefinitions& names_;
  EntryWriter& entries_;
  core::PoolMap<std::uint64_t, OpenStart> started_;
  core::PoolVector<Listed> listed_;
  SuspendedCalls* suspended_ = nullptr;
  bool chunks_missing_ = false;  // there was no memory to list them
};

}  // namespace nvspan::record
