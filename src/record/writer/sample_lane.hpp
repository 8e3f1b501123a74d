// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/chunks/chunk_pool.hpp"
#include "record/chunks/recording_file.hpp"
#include "record/definitions/definition_writer.hpp"
#include "record/file/sample_format.hpp"

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::record {

// Samples of Python's stacks, whose records come whole. They belong to no thread.
class SampleLane {
 public:
  SampleLane(core::PagePool& pool, RecordingFile& file, ChunkPool& chunks,
             DefinitionWriter& definitions)
      : file_(file), chunks_(chunks), definitions_(definitions), newest_(pool) {}

  // False: there is no space for it.
  bool define(CodeDefinition code, std::string_view file, std::string_view function);
  bool define(FrameDefinition frame, std::string_view c_function = {});
  bool define(const StackDefinition& stack);
  bool define(const SampledThreadDefinition& thread);

  struct Room {
    bool found = false;
    bool is_new = false;  // a chunk begins
    std::uint64_t base_ticks = 0;
  };
  Room make_room(std::size_t bytes);
  void append(std::string_view records, std::uint32_t samples) noexcept;

  // Nothing more is written, or only after the process began to end.
  void seal(bool last = true) noexcept;
  void forget() noexcept;  // for a new file

 private:
  bool take_chunk(std::size_t bytes);
  ChunkPool::Place take_newest(std::size_t needed);

  RecordingFile& file_;
  ChunkPool& chunks_;
  DefinitionWriter& definitions_;
  ChunkHeader* chunk_ = nullptr;
  char* next_ = nullptr;
  char* end_ = nullptr;
  std::uint32_t usual_ = 0;
  // All modes but `full`: the newest samples alone, in these, the one at `oldest_` the first that
  // is emptied.
  core::PoolVector<ChunkHeader*> newest_;
  std::size_t oldest_ = 0;
  std::uint64_t number_ = 0;   // of chunks
  std::uint64_t samples_ = 0;  // in all chunks
  std::uint64_t before_ = 0;   // in those before this one
};

}  // namespace nvspan::record
