// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The ring into which stamp kernels of captured graphs write, and the pairing of their stamps.
// Every replay writes new stamps. Begin and end of a range meet by its id: within one replay
// the begin is always first, so an id that begins twice belongs to two replays at once, and their
// stamps cannot be told apart.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <unordered_map>
#include <vector>

#include "cuda/clock/stamp_kernels.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/model/device_range.hpp"
#include "cuda/model/outcome_counts.hpp"

namespace nvspan::cuda {

// A range whose two times are known, in ns of globaltimer.
struct ReadRange {
  DeviceRange* range;  // one reference
  int64_t begin;
  int64_t end;
};

class GraphRing {
 public:
  static constexpr uint64_t size = uint64_t{1} << 16;

  // Allocates; the context must be current. False if the driver refuses.
  bool prepare(const Driver& api) noexcept;
  bool prepared() const noexcept { return ring_.load(std::memory_order_acquire) != nullptr; }

  Stamp* ring() const noexcept { return ring_.load(std::memory_order_acquire); }
  DevicePointer ring_on_gpu() const noexcept { return ring_on_gpu_; }
  DevicePointer head() const noexcept { return head_; }

  // Gives the range an id and takes a reference until it is retired. Any thread.
  uint32_t add(DeviceRange* range) noexcept;

  // Reads what is new and appends the ranges that are whole. Returns the number of stamps read.
  // One thread.
  size_t read(std::vector<ReadRange>& out, OutcomeCounts& counts) noexcept;

  // How many captured ranges are alive.
  size_t alive() noexcept;

  // Releases every range: their context is lost.
  void clear() noexcept;

 private:
  struct Open {
    DeviceRange* range;
    int64_t begin = 0;
    uint32_t depth = 0;
    bool mixed = false;
  };

  std::mutex mutex_;
  std::atomic<Stamp*> ring_{nullptr};
  DevicePointer ring_on_gpu_ = 0;
  DevicePointer head_ = 0;
  uint64_t next_ = 0;
  uint32_t last_id_ = 0;
  std::unordered_map<uint32_t, Open> open_;
};

}  // namespace nvspan::cuda
