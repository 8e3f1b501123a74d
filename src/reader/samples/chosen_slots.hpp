// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which sums of samples count: those of the paths that are asked for, without threads that only
// waited.

#pragma once

#include "reader/samples/sample_sums.hpp"
#include "reader/samples/shown_stacks.hpp"

#include <cstdint>
#include <utility>
#include <vector>

namespace nvspan::reader {

class ChosenSlots {
 public:
  ChosenSlots(const Recording& recording, const SampleSums& sums, const LineOptions& options);

  bool has(std::uint32_t slot) const {
    const std::uint32_t path = slots_[slot].path;
    if (!paths_.empty() && (path >= paths_.size() || !paths_[path])) return false;
    return left_out_.empty() || !left_out_[slot];
  }
  // Whether a thread only waited, but for its time in ranges.
  bool is_idle(std::uint32_t process, std::uint32_t thread) const;
  // Threads that are left out outside of ranges, and their time there.
  std::uint64_t idle_threads() const noexcept { return idle_keys_.size(); }
  const SampleTime& idle() const noexcept { return idle_; }

 private:
  const std::vector<SampleSlot>& slots_;
  const std::vector<bool>& paths_;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> idle_keys_;  // process and thread, sorted
  std::vector<bool> left_out_;                                      // slots; empty: none
  SampleTime idle_;
};

}  // namespace nvspan::reader
