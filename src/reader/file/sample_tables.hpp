// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What the samples of a file cite, by the file's numbers, and the chunks that hold them.

#pragma once

#include "reader/chunks/file_check.hpp"
#include "record/file/sample_format.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::reader {

struct ReadCode {
  std::int32_t file = -1;  // of Recording::strings(); -1: not known
  std::int32_t function = -1;
  std::uint32_t first_line = 0;
};

struct ReadFrame {
  std::uint32_t code = 0;  // 0: not known
  std::uint32_t line = 0;  // 0: of no line
  std::uint32_t end_line = 0;
  std::uint16_t column = record::no_column;
  std::uint16_t end_column = record::no_column;
  std::int32_t c_function = -1;  // that it is in, of Recording::strings(); -1: none, or not known
};

struct ReadStack {
  std::uint32_t parent = 0;  // less than its own number, so that no stack is its own
  std::uint32_t frame = 0;
};

struct SampledThread {
  std::uint32_t tid = 0;
  std::uint64_t ticks = 0;
};

// Number 0 is of no code, frame, stack or thread, and so are numbers without a definition.
struct SampleTables {
  std::vector<ReadCode> codes{1};
  std::vector<ReadFrame> frames{1};
  std::vector<ReadStack> stacks{1};
  std::vector<SampledThread> threads{1};
  std::vector<ReadChunk> chunks;  // in their order, the readable ones
  std::uint64_t damaged = 0;      // chunks that are left out
  std::uint64_t overwritten = 0;  // records of samples that newer ones replaced
  std::uint64_t missing = 0;      // that are damaged or cut off
  bool has_gap = false;           // likewise, of an unknown number
};

// What can be read of a sample chunk.
struct SampleContents {
  std::uint64_t samples = 0;  // records
  std::uint64_t last_ticks = 0;
  bool damaged = false;
};
SampleContents sample_contents(const ReadChunk& chunk);

}  // namespace nvspan::reader
