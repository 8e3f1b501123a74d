// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/context/range_pool.hpp"

#include <mutex>
#include <new>
#include <vector>

#include "cuda/context/side_stream.hpp"

namespace nvspan::cuda {

namespace {

// One thread allocates ranges and another frees them: the allocator's slowest case.
struct RangePool {
  static constexpr size_t most = 1024;
  std::mutex mutex;
  std::vector<void*> free;
};

RangePool& range_pool() noexcept {
  static RangePool* const pool = [] {
    RangePool* pool = new RangePool;
    pool->free.reserve(RangePool::most);
    return pool;
  }();
  return *pool;
}

void free_range(DeviceRange* range) noexcept {
  tell(*range, annotate::DeviceState::ended);
  unpin(range->begin_stream);
  unpin(range->end_stream);
  range->~DeviceRange();
  RangePool& pool = range_pool();
  {
    std::lock_guard<std::mutex> lock(pool.mutex);
    if (pool.free.size() < RangePool::most) {
      pool.free.push_back(range);
      return;
    }
  }
  ::operator delete(range);
}

}  // namespace

DeviceRange* new_range() noexcept {
  RangePool& pool = range_pool();
  void* memory = nullptr;
  {
    std::lock_guard<std::mutex> lock(pool.mutex);
    if (!pool.free.empty()) {
      memory = pool.free.back();
      pool.free.pop_back();
    }
  }
  return new (memory ? memory : ::operator new(sizeof(DeviceRange))) DeviceRange;
}

void retain(DeviceRange* range) noexcept {
  range->references.fetch_add(1, std::memory_order_relaxed);
}

void release(DeviceRange* range) noexcept {
  if (range->references.fetch_sub(1, std::memory_order_acq_rel) == 1) free_range(range);
}

void finish(DeviceRange* range, PhaseEvent how) noexcept {
  tell(*range, annotate::DeviceState::ended);
  range->phase.apply(how);
  release(range);
}

}  // namespace nvspan::cuda
