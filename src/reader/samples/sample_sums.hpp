// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Every sample of a recording, added up by its thread, the ranges that are open there, and its
// stack; and by blocks of time, as samples that follow one another are alike.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/samples/open_path.hpp"
#include "reader/samples/sample_scan.hpp"
#include "reader/scan/selection.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace nvspan::reader {

struct SampleTime {
  std::uint64_t samples = 0;
  std::array<std::uint64_t, time_kinds> ns = {};  // by TimeKind

  std::uint64_t all() const noexcept { return ns[0] + ns[1] + ns[2]; }
  bool empty() const noexcept { return samples == 0 && all() == 0; }
  SampleTime& operator+=(const SampleTime& other) noexcept {
    samples += other.samples;
    for (std::size_t i = 0; i < time_kinds; ++i) ns[i] += other.ns[i];
    return *this;
  }
};

// What samples have in common that are added up.
struct SampleSlot {
  std::uint32_t process = 0;
  std::uint32_t thread = 0;  // of SampleTables::threads
  std::uint32_t path = 0;    // of SampleSums::paths()
  std::uint32_t stack = 0;
};

struct SampleCell {
  std::uint32_t slot;
  SampleTime time;
};

class SampleSums {
 public:
  static constexpr std::size_t blocks_of_process = 40;

  // With a selection of names, the samples within ranges of these names. Throws std::length_error
  // where there are 2^32 ranges.
  SampleSums(const Recording& recording, const Selection& selection);

  const std::vector<RangePaths::Path>& paths() const noexcept { return paths_.paths(); }
  // Domain and name of RangePaths::Path::name.
  const std::vector<std::pair<std::uint32_t, std::int32_t>>& names() const noexcept {
    return names_;
  }
  const std::vector<SampleSlot>& slots() const noexcept { return slots_; }
  // Of each block of time.
  const std::vector<std::vector<SampleCell>>& blocks() const noexcept { return blocks_; }
  const std::vector<SampleFacts>& facts() const noexcept { return facts_; }  // of each process
  std::uint64_t threads() const noexcept { return threads_; }                // that have samples

 private:
  class Join;

  RangePaths paths_;
  std::vector<std::pair<std::uint32_t, std::int32_t>> names_;
  std::vector<SampleSlot> slots_;
  std::vector<std::vector<SampleCell>> blocks_;
  std::vector<SampleFacts> facts_;
  std::uint64_t threads_ = 0;
};

}  // namespace nvspan::reader
