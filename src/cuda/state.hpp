// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the process knows of CUDA contexts, and the streams in each that had device ranges.
//
// Everything here is immortal: callbacks of the driver and our own thread may outlive the program's
// use of it. Nothing is destroyed at exit, when the driver may be gone already.

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <unordered_map>
#include <vector>

#include "cuda/device_range.hpp"
#include "cuda/driver.hpp"
#include "cuda/gpu_clock.hpp"
#include "cuda/graph_ring.hpp"

namespace nvspan::cuda {

// What a host function would have done, done by the poller when the event is over. A stream that
// waits for another takes some 56 host functions; the next launch blocks until the GPU gets there,
// and a program whose GPU waits for it would wait for ever. So there are never that many.
struct PolledCall {
  DeviceRange* range;  // one reference
  EventHandle event;
  bool is_end;
};
constexpr uint64_t most_host_functions = 40;

// A stream of the program and the stream of ours beside it. The mutex is held over "record, wait,
// stamp", so that the one event `fork` may serve every range.
struct SideStream {
  std::mutex mutex;
  DeviceContext* context = nullptr;
  std::atomic<StreamHandle> user{nullptr};  // another one's when the partner has been taken over
  std::atomic<uint32_t> pins{0};            // ranges and threads that name it
  StreamHandle side = nullptr;
  EventHandle fork = nullptr;
  EventHandle tail = nullptr;  // made when a range ends on another stream
  uint64_t stream_id = 0;
  std::vector<EventHandle> events;  // timing events that are free
  size_t events_made = 0;
  std::deque<DeviceRange*> pending;    // ended ranges with events, in order
  std::atomic<uint64_t> callbacks{0};  // host functions in flight
  std::deque<PolledCall> polled;       // in place of host functions, in order
  std::atomic<uint64_t> last_used{0};
};

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

// A context made current for a scope, if it is not.
class ContextScope {
 public:
  ContextScope() = default;
  ~ContextScope() {
    if (pushed_) {
      ContextHandle popped;
      api_->cuCtxPopCurrent_v2(&popped);
    }
  }
  bool push(const Driver& api, ContextHandle context) noexcept {
    api_ = &api;
    pushed_ = api.cuCtxPushCurrent_v2(context) == success;
    return pushed_;
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const Driver* api_ = nullptr;
  bool pushed_ = false;
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

// The id of a stream that had ranges before, else its handle: no question is put to the stream.
uint64_t known_stream_id(DeviceContext& context, StreamHandle user) noexcept;

// The stream's partner, pinned; it is the caller's or a range's to unpin. When there are too many
// streams it is that of the stream that had no range for longest. `no_room`: every one has.
Result side_stream(const Driver& api, DeviceContext& context, StreamHandle user,
                   SideStream*& found) noexcept;
inline void unpin(SideStream* stream) noexcept {
  if (stream) stream->pins.fetch_sub(1, std::memory_order_release);
}
constexpr Result no_room = -1;  // ours, none of the driver's

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

// The range is over: told to its handle, and the reference of what was in flight let go.
void finish(DeviceRange* range, Phase phase) noexcept;

DeviceRange* new_range() noexcept;
uint64_t next_launch() noexcept;

}  // namespace nvspan::cuda
