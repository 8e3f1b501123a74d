// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/chunks/chunk_pool.hpp"
#include "record/chunks/recording_file.hpp"
#include "record/definitions/payloads.hpp"
#include "record/thread/thread_writer.hpp"
#include "trace/event/event.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::record {

struct NewEntry {
  EntryKind kind;
  std::uint32_t subject;
  std::uint64_t ticks;
  const std::uint64_t* value = nullptr;   // null: entries of this kind have none
  const trace::Event* payload = nullptr;  // whose payload it has, if that has one
};

// An entry of a few words, the last one of them the payload where it has one.
struct WordEntry {
  EntryKind kind;
  std::uint32_t subject;
  std::uint64_t ticks;
  const std::uint64_t* words;
  std::size_t count;
  bool has_payload = false;
};

// Writes entries of any length into a thread's chunk, gives the thread a new one when that is full,
// and counts the events that found no space. In mode `stats` there are no entries, only losses.
class EntryWriter {
 public:
  EntryWriter(RecordingFile& file, ChunkPool& chunks, PayloadDefinitions& payloads)
      : file_(file), chunks_(chunks), payloads_(payloads) {}

  // Whether the event's entry has one.
  static bool has_payload(const trace::Event& event) noexcept;

  // False, and the event is counted as lost: there is no space, or its subject is not defined.
  bool put(ThreadWriter& writer, const NewEntry& entry);
  bool put_words(ThreadWriter& writer, const WordEntry& entry);
  // The rows of a counter's samples.
  void put_samples(ThreadWriter& writer, const trace::Event& event, std::uint32_t counter,
                   std::uint64_t ticks);
  // Makes room for an entry of `words` at `ticks`, whatever came before.
  void move_to(ThreadWriter& writer, std::uint64_t ticks, std::size_t words);

  // An event that goes into no chunk.
  void lose(ThreadWriter& writer, LossReason reason) noexcept;
  void write_losses(ThreadWriter& writer) noexcept;  // those counted so far, if any

  void seal(const ThreadWriter& writer, bool last) noexcept;
  // The thread ended: the rest of its chunk goes to the next one.
  void give_back(ThreadWriter& writer) noexcept;
  // The process ends: if its chunk is the file's last one, few words are left in it.
  void shorten(ThreadWriter& writer) noexcept;

 private:
  bool make_room(ThreadWriter& writer, std::size_t words);
  bool refill(ThreadWriter& writer, std::size_t words);
  void write_open(ThreadWriter& writer, std::size_t words) noexcept;
  void write_loss(ThreadWriter& writer) noexcept;

  RecordingFile& file_;
  ChunkPool& chunks_;
  PayloadDefinitions& payloads_;
};

}  // namespace nvspan::record
