// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// One process's part of the file: a recording, whole and closed, written from its front to its end.

#pragma once

#include "record/file/format.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <vector>

namespace nvspan::record {

class SectionFile {
 public:
  // The section begins there in the file.
  SectionFile(int fd, std::uint64_t begin) : fd_(fd), begin_(begin), next_(file_header_bytes) {}

  template <typename Definition>
  void define(DefinitionType type, const Definition& definition, std::string_view text = {}) {
    static_assert(std::is_trivially_copyable_v<Definition>);
    define(type, &definition, sizeof definition, text);
  }
  void end_definitions();

  void begin_thread(std::uint32_t thread, std::uint32_t tid);
  // Room for an entry that makes `events` events at that time: it and its payload take `words`, and
  // its first word is at what is returned; entry_delta() is of this room.
  std::uint64_t* reserve(std::uint64_t ticks, std::size_t words, unsigned events = 1) {
    std::uint64_t delta = ticks - base_;
    if (static_cast<std::size_t>(limit_ - at_) < words + base_words || delta > entry_ticks_mask) {
      make_room(ticks, words);
      delta = ticks - base_;
    }
    delta_ = delta;
    last_ticks_ = ticks > last_ticks_ ? ticks : last_ticks_;
    events_ += events;
    std::uint64_t* to = at_;
    at_ += words;
    return to;
  }
  std::uint64_t entry_delta() const noexcept { return delta_; }
  void end_thread();

  // Writes the header, of which only what the file decides is added. Returns where the section ends
  // in the file.
  std::uint64_t finish(FileHeader& header);

 private:
  static constexpr std::size_t base_words = 2;

  void define(DefinitionType type, const void* data, std::size_t bytes, std::string_view text);
  void make_room(std::uint64_t ticks, std::size_t words);
  void start_chunk(ChunkType type, std::uint64_t ticks, std::size_t words);
  void write_chunk(bool last);

  int fd_;
  std::uint64_t begin_;
  std::uint64_t next_;  // of the next chunk, in the section
  std::uint64_t chunks_ = 0;
  std::uint64_t events_ = 0;  // of the open chunk
  std::uint64_t total_ = 0;
  std::uint64_t before_ = 0;  // of the thread
  std::uint64_t number_ = 0;  // of the thread's chunk
  std::uint32_t thread_ = 0;
  std::uint32_t tid_ = 0;
  std::uint32_t threads_ = 0;
  std::uint64_t base_ = 0;
  std::uint64_t delta_ = 0;
  std::uint64_t last_ticks_ = 0;
  ChunkHeader header_ = {};
  std::vector<std::uint64_t> buffer_;
  std::uint64_t* at_ = nullptr;
  std::uint64_t* limit_ = nullptr;
};

}  // namespace nvspan::record
