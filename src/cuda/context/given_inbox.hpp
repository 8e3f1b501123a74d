// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranges of a context whose times somebody else has read: any thread puts them in, the thread that
// reads the context takes them out.

#include <atomic>
#include <mutex>
#include <vector>

#include "cuda/context/graph_ring.hpp"

namespace nvspan::cuda {

class GivenInbox {
 public:
  static constexpr size_t most = size_t{1} << 18;

  // False: it is full.
  bool put(ReadRange read) noexcept {
    std::lock_guard<std::mutex> lock(mutex_);
    if (ranges_.size() >= most) return false;
    ranges_.push_back(read);
    filled_.store(true, std::memory_order_release);
    return true;
  }
  bool empty() const noexcept { return !filled_.load(std::memory_order_acquire); }
  void take(std::vector<ReadRange>& out) {
    std::lock_guard<std::mutex> lock(mutex_);
    out.insert(out.end(), ranges_.begin(), ranges_.end());
    ranges_.clear();
    filled_.store(false, std::memory_order_release);
  }

 private:
  std::mutex mutex_;
  std::vector<ReadRange> ranges_;
  std::atomic<bool> filled_{false};
};

}  // namespace nvspan::cuda
