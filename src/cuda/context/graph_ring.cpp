// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/context/graph_ring.hpp"

#include "cuda/context/range_pool.hpp"
#include "cuda/driver/driver.hpp"

namespace nvspan::cuda {

bool GraphRing::prepare(const Driver& api) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  if (prepared()) return true;
  const RelaxedCapture relaxed(api);
  PinnedMemory memory;
  if (!allocate_pinned(api, size * sizeof(Stamp), memory)) return false;
  if (head_ == 0 && api.cuMemAlloc_v2(&head_, sizeof(uint64_t)) != success) return false;
  if (api.cuMemsetD8_v2(head_, 0, sizeof(uint64_t)) != success) return false;
  ring_on_gpu_ = memory.device;
  ring_.store(static_cast<Stamp*>(memory.host), std::memory_order_release);
  return true;
}

uint32_t GraphRing::add(DeviceRange* range) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  do {
    last_id_ = (last_id_ + 1) & 0x7FFFFFFF;
  } while (last_id_ == 0 || open_.count(last_id_));
  open_.emplace(last_id_, Open{range});
  retain(range);
  return last_id_;
}

size_t GraphRing::alive() noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  return open_.size();
}

size_t GraphRing::read(std::vector<ReadRange>& out, OutcomeCounts& counts) noexcept {
  Stamp* const ring = this->ring();
  if (!ring) return 0;
  std::lock_guard<std::mutex> lock(mutex_);
  // Ranges retired by now have run for the last time: their stamps are already in the ring.
  std::vector<uint32_t> retired;
  for (auto& [id, open] : open_) {
    if (is_retired(open.range->submit.now())) retired.push_back(id);
  }
  size_t count = 0;
  for (;; ++count) {
    Stamp& slot = ring[next_ & (size - 1)];
    const uint64_t time = __atomic_load_n(&slot.time, __ATOMIC_ACQUIRE);
    const uint64_t word = __atomic_load_n(&slot.word, __ATOMIC_ACQUIRE) ^ time * stamp_mix;
    const auto ahead =
        static_cast<int32_t>(static_cast<uint32_t>(word) - static_cast<uint32_t>(next_ + 1));
    if (ahead != 0) {
      // Nothing new, or half a stamp; else a later lap has overtaken the reader.
      const bool lap = time != 0 && ahead > 0 && (static_cast<uint64_t>(ahead) & (size - 1)) == 0;
      if (!lap || __atomic_load_n(&slot.time, __ATOMIC_ACQUIRE) != time) break;
      // Go on half a ring behind the writer; ranges that were open can no longer be paired.
      const uint64_t lost = static_cast<uint64_t>(ahead) - size / 2;
      counts.add(Outcome::overrun, lost);
      next_ += lost;
      for (auto& [id, open] : open_) {
        open.depth = 0;
        open.mixed = false;
      }
      continue;
    }
    const auto range = static_cast<uint32_t>(word >> 33);
    const bool is_end = (word >> 32 & 1) != 0;
    ++next_;
    const auto found = open_.find(range);
    if (found == open_.end()) {
      counts.add(Outcome::unpaired);
      continue;
    }
    Open& open = found->second;
    if (!is_complete(open.range->submit.now())) continue;
    if (!is_end) {
      if (open.depth++ > 0) open.mixed = true;
      open.begin = static_cast<int64_t>(time);
    } else if (open.depth == 0) {
      counts.add(Outcome::unpaired);
    } else {
      --open.depth;
      if (open.mixed) {
        counts.add(Outcome::ambiguous);
        if (open.depth == 0) open.mixed = false;
      } else {
        retain(open.range);
        out.push_back({open.range, open.begin, static_cast<int64_t>(time)});
      }
    }
  }
  for (const uint32_t id : retired) {
    const auto found = open_.find(id);
    DeviceRange* range = found->second.range;
    if (found->second.depth > 0) counts.add(Outcome::unpaired, found->second.depth);
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
