// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/large_pages.hpp"
#include "record/file/work_format.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

// When, and on which thread, the calls began that launched the work of a process, by their
// correlation numbers.
class Launches {
 public:
  struct Call {
    std::uint64_t ticks = 0;
    std::uint32_t tid = 0;  // the number that the system has for the thread
    std::uint32_t correlation = 0;
  };

  void reserve(std::size_t calls) { calls_.reserve(calls); }
  void add(const Call& call) { calls_.push_back(call); }
  void sort();  // after the last add() and before find()
  // Of several calls with that number the one that was added first; null: none.
  const Call* find(std::uint32_t correlation) const;
  // Work that begins before its call: the clocks of GPU and processor disagree there, and its times
  // are not known.
  bool is_early(std::uint32_t correlation, std::uint64_t begin) const {
    const Call* const call = find(correlation);
    return call != nullptr && begin < call->ticks;
  }

 private:
  static constexpr unsigned block_shift = 5;

  core::LargeVector<Call> calls_;  // by number
  // Where the numbers of each block of 32 begin in calls_: CUPTI counts, so nearly all are there.
  std::vector<std::uint32_t> blocks_;
};

}  // namespace nvspan::reader
