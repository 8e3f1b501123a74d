// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Where the Python threads of a process are, and since when: from the newest chunks of samples of a
// file that may be being written.

#pragma once

#include "reader/chunks/byte_source.hpp"
#include "reader/live/sampled_code.hpp"
#include "record/file/live_format.hpp"
#include "record/file/sample_format.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

struct LiveLine {
  std::uint32_t tid = 0;
  std::uint32_t stack = 0;  // of SampledCode
  std::uint32_t shown = 0;  // its part up to the innermost frame that is not hidden; else all of it
  record::SampleState state = record::SampleState::waiting;
  std::uint64_t since = 0;  // ticks: from then on every sample is at the line of `shown`
  bool at_least = true;     // what came before is not known
};

struct LiveLines {
  std::uint64_t looked = 0;  // ticks: when the sampler last wrote; 0: not known
  std::vector<LiveLine> threads;
};

// Made before the definitions are read that samples cite.
class LineFinder {
 public:
  LineFinder(const record::LiveSection& live, ByteSource& file);

  // Reads at most 4 MiB of samples. `hidden`: codes whose frames are not shown, by number.
  LiveLines find(const SampledCode& code, const std::vector<bool>& hidden);

 private:
  bool copy(std::uint64_t number);

  ByteSource& file_;
  std::uint64_t newest_;  // the number of a chunk; 0: there is none
  std::uint64_t offsets_[record::live_sample_chunks] = {};
  std::size_t left_;  // bytes that may be read
  bool copied_ = false;
  // Of the chunk that was copied last.
  std::uint64_t base_ticks_ = 0;
  std::vector<std::uint8_t> records_;
};

}  // namespace nvspan::reader
