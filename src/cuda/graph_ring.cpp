// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/graph_ring.hpp"

#include <cstring>

namespace nvspan::cuda {

bool GraphRing::prepare(const Driver& api) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  if (prepared()) return true;
  const RelaxedCapture relaxed(api);
  void* memory = nullptr;
  if (api.cuMemHostAlloc(&memory, size * sizeof(Stamp), host_alloc_portable) != success) {
    return false;
  }
  std::memset(memory, 0, size * sizeof(Stamp));
  if (head_ == 0 && api.cuMemAlloc_v2(&head_, sizeof(uint64_t)) != success) return false;
  if (api.cuMemsetD8_v2(head_, 0, sizeof(uint64_t)) != success) return false;
  ring_.store(static_cast<Stamp*>(memory), std::memory_order_release);
  return true;
}

uint32_t GraphRing::add(DeviceRange* range) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  do {
    ++last_id_;
  } while (last_id_ == 0 || open_.count(last_id_));
  open_.emplace(last_id_, Open{range});
  retain(range);
  return last_id_;
}

size_t GraphRing::alive() noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  return open_.size();
}

size_t GraphRing::read(std::vector<ReadRange>& out, Counters& counters) noexcept {
  Stamp* const ring = this->ring();
  if (!ring) return 0;
  std::lock_guard<std::mutex> lock(mutex_);
  // What is retired now has run for the last time: its stamps are in the ring already.
  std::vector<uint32_t> retired;
  for (auto& [id, open] : open_) {
    if (open.range->retired.load(std::memory_order_acquire)) retired.push_back(id);
  }
  size_t count = 0;
  for (;; ++count) {
    Stamp& slot = ring[next_ & (size - 1)];
    const uint64_t sequence = __atomic_load_n(&slot.sequence, __ATOMIC_ACQUIRE);
    if (sequence < next_ + 1) break;
    Stamp stamp;
    stamp.time = __atomic_load_n(&slot.time, __ATOMIC_RELAXED);
    stamp.range = __atomic_load_n(&slot.range, __ATOMIC_RELAXED);
    stamp.is_end = __atomic_load_n(&slot.is_end, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_ACQUIRE);
    const bool torn = __atomic_load_n(&slot.sequence, __ATOMIC_RELAXED) != sequence;
    if (torn || sequence > next_ + 1) {
      // Overtaken: go on half a ring behind the writer; what was open cannot be paired any more.
      const uint64_t resume = sequence - 1 - size / 2;
      const uint64_t lost = resume > next_ ? resume - next_ : 1;
      counters.add(Count::overrun, lost);
      next_ += lost;
      for (auto& [id, open] : open_) {
        open.depth = 0;
        open.mixed = false;
      }
      continue;
    }
    ++next_;
    const auto found = open_.find(stamp.range);
    if (found == open_.end()) {
      counters.add(Count::unpaired);
      continue;
    }
    Open& open = found->second;
    if (!open.range->complete.load(std::memory_order_acquire)) continue;
    if (stamp.is_end == 0) {
      if (open.depth++ > 0) open.mixed = true;
      open.begin = static_cast<int64_t>(stamp.time);
    } else if (open.depth == 0) {
      counters.add(Count::unpaired);
    } else {
      --open.depth;
      if (open.mixed) {
        counters.add(Count::ambiguous);
        if (open.depth == 0) open.mixed = false;
      } else {
        retain(open.range);
        out.push_back({open.range, open.begin, static_cast<int64_t>(stamp.time)});
      }
    }
  }
  for (const uint32_t id : retired) {
    const auto found = open_.find(id);
    DeviceRange* range = found->second.range;
    if (found->second.depth > 0) counters.add(Count::unpaired, found->second.depth);
    open_.erase(found);
    release(range);
  }
  return count;
}

void GraphRing::clear() noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  for (auto& [id, open] : open_) release(open.range);
  open_.clear();
}

}  // namespace nvspan::cuda
