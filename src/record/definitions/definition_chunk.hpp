// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/chunks/chunk_pool.hpp"
#include "record/chunks/recording_file.hpp"
#include "record/file/format.hpp"

#include <cstddef>
#include <string_view>
#include <type_traits>

namespace nvspan::record {

// Writes definitions, one after the other, into separate chunks.
class DefinitionChunk {
 public:
  DefinitionChunk(RecordingFile& file, ChunkPool& chunks) : file_(file), chunks_(chunks) {}

  // The definition, then `text`. False: there is no space.
  template <typename Definition>
  bool add(DefinitionType type, const Definition& definition, std::string_view text = {}) {
    static_assert(std::is_trivially_copyable_v<Definition>);
    return add_bytes(type, &definition, sizeof definition, text);
  }
  bool add_bytes(DefinitionType type, const void* data, std::size_t bytes,
                 std::string_view text = {});

  void seal() noexcept;
  void forget() noexcept;

  // Whether there was no space for one since clear_failed().
  bool has_failed() const noexcept { return has_failed_; }
  void clear_failed() noexcept { has_failed_ = false; }

  // The bytes that a definition takes in the file.
  static std::size_t bytes_of(std::size_t bytes) noexcept;

 private:
  bool start_chunk(std::size_t needed);

  RecordingFile& file_;
  ChunkPool& chunks_;
  ChunkHeader* chunk_ = nullptr;
  char* next_ = nullptr;
  std::size_t left_ = 0;
  bool has_failed_ = false;
};

}  // namespace nvspan::record
