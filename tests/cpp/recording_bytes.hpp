// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A recording put together word by word, as a test needs it: a header, chunks of definitions and of
// entries, one after the other, all of them open.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <utility>
#include <vector>

#include "reader/file/recording.hpp"
#include "record/file/checksum.hpp"
#include "record/file/format.hpp"

namespace nvspan_test {

namespace record = nvspan::record;

class RecordingBytes {
 public:
  RecordingBytes() : words_(record::file_header_bytes / record::word) {
    header_.magic = record::file_magic;
    header_.version = record::format_version;
    header_.header_bytes = record::file_header_bytes;
    header_.pid = 42;
    header_.rank = header_.local_rank = header_.world_size = -1;
    header_.estimated_frequency = 1e9;  // a tick is a nanosecond
    header_.first = record::ClockSample{1000, 1000, 1000};
  }

  record::FileHeader& header() { return header_; }

  void start_definitions() { start(record::ChunkType::definitions, 0, 0, 0); }
  void start_events(std::uint32_t thread, std::uint32_t tid, std::uint64_t base_ticks,
                    std::uint64_t number = 1, std::uint64_t before = 0) {
    start(record::ChunkType::events, thread, tid, base_ticks, number, before);
  }

  void start_samples(std::uint64_t base_ticks, std::uint64_t number) {
    start(record::ChunkType::samples, 0, 0, base_ticks, number);
  }

  // Into the chunk that was started last.
  template <typename Definition>
  void define(record::DefinitionType type, const Definition& definition,
              std::string_view text = {}) {
    const std::size_t bytes = sizeof definition + text.size();
    std::vector<std::uint64_t> body((bytes + record::word - 1) / record::word);
    std::memcpy(body.data(), &definition, sizeof definition);
    std::copy(text.begin(), text.end(), reinterpret_cast<char*>(body.data()) + sizeof definition);
    const std::size_t offset = (words_.size() - chunk_) * record::word;
    words_.push_back(
        record::definition_word(type, bytes, chunks_, offset, body.data(), body.size()));
    words_.insert(words_.end(), body.begin(), body.end());
  }
  void string(std::uint32_t id, std::string_view text) {
    define(record::DefinitionType::string, record::StringDefinition{id, 0}, text);
  }
  void add(const std::vector<std::uint64_t>& words) {
    words_.insert(words_.end(), words.begin(), words.end());
  }

  std::vector<std::uint64_t> words() {
    finish();
    header_.chunks = chunks_;
    header_.allocated = words_.size() * record::word;
    header_.fixed_sum = record::fixed_sum(header_);
    std::memcpy(words_.data(), &header_, sizeof header_);
    return words_;
  }

 private:
  void start(record::ChunkType type, std::uint32_t thread, std::uint32_t tid,
             std::uint64_t base_ticks, std::uint64_t number = 1, std::uint64_t before = 0) {
    finish();
    chunk_ = words_.size();
    record::ChunkHeader header = {};
    header.magic = record::chunk_magic;
    header.type = static_cast<std::uint32_t>(type);
    header.thread = thread;
    header.tid = tid;
    header.place = static_cast<std::uint32_t>(chunk_ * record::word / record::chunk_alignment);
    header.sequence = ++chunks_;
    header.base_ticks = base_ticks;
    header.number = number;
    header.before = before;
    words_.resize(words_.size() + sizeof header / record::word);
    std::memcpy(words_.data() + chunk_, &header, sizeof header);
  }

  // A chunk's size is known once all is in it; a word of zero ends its records.
  void finish() {
    if (chunk_ == 0) return;
    constexpr std::size_t unit = record::chunk_alignment / record::word;
    words_.resize((words_.size() + 1 + unit - 1) / unit * unit);
    auto* header = reinterpret_cast<record::ChunkHeader*>(words_.data() + chunk_);
    header->size = static_cast<std::uint32_t>((words_.size() - chunk_) * record::word);
    header->header_sum = record::crc32c(header, record::header_sum_offset);
    chunk_ = 0;
  }

  record::FileHeader header_ = {};
  std::vector<std::uint64_t> words_;
  std::size_t chunk_ = 0;  // where the one that was started last begins; 0: none
  std::uint64_t chunks_ = 0;
};

// False: it is not a recording.
inline bool read(nvspan::reader::Recording& recording, RecordingBytes& bytes,
                 const char* path = "a.nvspan") {
  std::vector<std::uint64_t> words = bytes.words();
  const std::size_t size = words.size() * record::word;
  return recording.add(path, std::move(words), size);
}

}  // namespace nvspan_test
