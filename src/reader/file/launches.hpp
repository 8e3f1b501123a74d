// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/work_format.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::reader {

// When, and on which thread, the calls began that launched the work of a process, by their
// correlation numbers.
class Launches {
 public:
  struct Call {
    std::uint64_t ticks;
    std::uint32_t tid;  // the number that the system has for the thread
  };

  void add(std::uint32_t correlation, const Call& call) { calls_.push_back({correlation, call}); }
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
  struct Entry {
    std::uint32_t correlation;
    Call call;
  };
  std::vector<Entry> calls_;
};

}  // namespace nvspan::reader
