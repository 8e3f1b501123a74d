// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The chunks of a file, and what its checksums show: which chunks are whole, damaged or missing.

#pragma once

#include "record/file/format.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace nvspan::reader {

using record::word;

enum class ChunkState : std::uint8_t {
  unchecked,  // of version 1, which has no checksums
  open,       // its thread had not finished it
  whole,
  cut,      // the file ends within it
  damaged,  // its checksum is another
};

// A chunk as its header has it, whatever the version.
struct ReadChunk {
  const std::uint64_t* begin;  // its entries or records
  const std::uint64_t* end;
  record::ChunkType type = record::ChunkType::events;
  ChunkState state;
  bool sealed;  // `events`, `last_ticks` and `last` are known
  bool last;    // of its thread
  std::uint32_t thread;
  std::uint32_t tid;
  std::uint64_t offset;  // in the file
  std::uint64_t sequence;
  std::uint64_t base_ticks;
  std::uint64_t end_ticks;
  std::uint64_t last_ticks;
  std::uint64_t number;
  std::uint64_t before;
  std::uint64_t events;
};

struct FileCheck {
  std::vector<ReadChunk> chunks;  // in the order of the file
  bool closed = false;            // the header says how long the file is
  bool header_damaged = false;
  bool moving = false;         // its process wrote while it was read: parts are newer than others
  std::uint64_t expected = 0;  // bytes that the file should have; 0: not known
  std::uint64_t missing_bytes = 0;  // beyond its end
  std::uint64_t damaged_bytes = 0;  // in which no chunk could be found
  std::uint64_t surplus_bytes = 0;  // after its end
  std::uint64_t missing_chunks = 0;
  std::uint64_t open_chunks = 0;

  bool is_whole() const;
  // Chunks without a checksum that was compared become damaged ones: of a file that another process
  // cut and wrote again while it was read they may hold parts of two moments.
  void leave_out_unchecked();
};

// Reads the bytes of a file that is still being written once more. False: it cannot.
using Reread = std::function<bool(std::uint64_t offset, void* to, std::size_t bytes)>;

// `words` are made to hold a header at least.
FileCheck check_file(std::vector<std::uint64_t>& words, std::size_t bytes, const Reread& reread);

}  // namespace nvspan::reader
