// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the process knows of CUDA contexts.
//
// Everything here is immortal: callbacks of the driver and our own thread may outlive the program's
// use of it. Nothing is destroyed at exit, when the driver may be gone already.

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
#include "cuda/driver/context_scope.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/model/device_range.hpp"

namespace nvspan::cuda {

class DeviceContext {
 public:
  DeviceContext(ContextHandle handle, unsigned long long id, DeviceOrdinal device, bool primary)
      : handle(handle), id(id), device(device), clock({handle, id}, !primary) {}

  const ContextHandle handle;
  const unsigned long long id;
  const DeviceOrdinal device;
  ContextIdentity identity() const noexcept { return {handle, id}; }
  std::atomic<bool> lost{false};  // reset, destroyed or broken: its handles are not to be used

  std::mutex mutex;
  std::map<std::pair<StreamHandle, uint64_t>, std::unique_ptr<SideStream>> streams;

  GpuClock clock;
  GraphRing ring;

  // Held by the one thread that reads what the context's ranges left, or that drops them.
  std::atomic<bool> reading{false};
  std::vector<ReadRange> waiting;  // read, not converted yet; of whoever holds `reading`
};

// Makes the context of `target` current, where `current` (null: none) is now, and finds what is
// known of it. Null: there is none.
DeviceContext* enter_context(const Driver& api, Target target, ContextHandle current,
                             ContextScope& scope) noexcept;

inline bool still_there(const Driver& api, const DeviceContext& context) noexcept {
  return still_there(api, context.identity());
}

// Makes a context that is still there current.
bool enter_again(const Driver& api, DeviceContext& context, ContextScope& scope) noexcept;

// What is known of the context that is current.
DeviceContext* current_context(const Driver& api, ContextHandle current) noexcept;

// Drops a context: what is in flight in it is lost and counted, its handles are used no more. Where
// another thread is reading it, that one drops what there is.
void lose_context(DeviceContext& context) noexcept;

// For who has held `reading`, after letting it go: drops what is left of a context lost meanwhile.
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
