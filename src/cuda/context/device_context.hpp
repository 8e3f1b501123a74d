// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The records of CUDA contexts.
//
// All records are immortal: callbacks of the driver and the poller's thread may outlive the
// program's use of a context. Nothing is destroyed at exit, when the driver may have shut down.

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "cuda/clock/gpu_clock.hpp"
#include "cuda/context/graph_ring.hpp"
#include "cuda/context/side_stream.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/model/device_range.hpp"

namespace nvspan::cuda {

// Ranges of a context whose times somebody else has read: any thread puts them in, the thread that
// reads the context takes them out.
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

class DeviceContext {
 public:
  DeviceContext(ContextHandle handle, unsigned long long id, DeviceOrdinal device, bool primary)
      : handle(handle), id(id), device(device), clock({handle, id}, !primary) {}

  const ContextHandle handle;
  const unsigned long long id;
  const DeviceOrdinal device;
  ContextIdentity identity() const noexcept { return {handle, id}; }
  std::atomic<bool> lost{false};  // reset, destroyed or broken: its handles must not be used

  std::mutex mutex;
  std::map<std::pair<StreamHandle, uint64_t>, std::unique_ptr<SideStream>> streams;

  GpuClock clock;
  GraphRing ring;
  GivenInbox given;

  // Held by the one thread that reads the context's finished ranges, or that drops them.
  std::atomic<bool> reading{false};
  std::vector<ReadRange>
      waiting;  // read, not converted yet; used by the thread that holds `reading`
};

// Makes the context of `target` current, where `current` (null: none) is now, and finds its
// record. Null: there is none.
DeviceContext* enter_context(const Driver& api, Target target, ContextHandle current,
                             ContextScope& scope) noexcept;

inline bool still_there(const Driver& api, const DeviceContext& context) noexcept {
  return still_there(api, context.identity());
}

// Makes a context that still exists current.
bool enter_again(const Driver& api, DeviceContext& context, ContextScope& scope) noexcept;

// The record of the current context.
DeviceContext* current_context(const Driver& api, ContextHandle current) noexcept;

// Drops a context: ranges in flight in it are lost and counted, and its handles are used no more.
// If another thread is reading it, that thread drops the ranges.
void lose_context(DeviceContext& context) noexcept;

// Called after releasing `reading`: drops the ranges of a context that was lost in the meantime.
void drop_if_lost(DeviceContext& context) noexcept;

// All contexts that are not lost.
std::vector<DeviceContext*> live_contexts();

// False at exit, and in a child that was forked after CUDA began to be used.
bool accepting() noexcept;
bool stopping() noexcept;
void stop_accepting() noexcept;

// The number of the newest call that began a range, and the next one.
uint64_t newest_launch() noexcept;
uint64_t next_launch() noexcept;

}  // namespace nvspan::cuda
