// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The streams of a context that had device ranges, each with a stream of nvspan's beside it.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <mutex>
#include <vector>

#include "cuda/driver/driver.hpp"
#include "cuda/model/device_range.hpp"

namespace nvspan::cuda {

// The work of a host function, done by the poller after the event. A stream that waits for another
// holds about 56 host functions; the next launch blocks until the GPU reaches them, and a program
// whose GPU waits for it would deadlock. So a stream never gets that many.
struct PolledCall {
  DeviceRange* range;  // one reference
  EventHandle event;
  bool is_end;
};
constexpr uint64_t most_host_functions = 40;

// A stream of the program and nvspan's stream beside it. The mutex is held over "record, wait,
// stamp", so that the one event `fork` may serve every range.
struct SideStream {
  std::mutex mutex;
  DeviceContext* context = nullptr;
  std::atomic<StreamHandle> user{nullptr};  // changes when the partner is taken over
  std::atomic<uint32_t> pins{0};            // ranges and threads that name it
  StreamHandle side = nullptr;
  EventHandle fork = nullptr;
  EventHandle tail = nullptr;  // created when a range ends on another stream
  uint64_t stream_id = 0;
  std::vector<EventHandle> events;  // timing events that are free
  size_t events_made = 0;
  std::deque<DeviceRange*> pending;    // ended ranges with events, in order
  std::atomic<uint64_t> callbacks{0};  // host functions in flight
  std::atomic<uint64_t> ending{0};     // ranges of host functions that were ended and are not over
  std::deque<PolledCall> polled;       // in place of host functions, in order
  std::atomic<uint64_t> last_used{0};
};

// The stream's partner, pinned; it is the caller's or a range's to unpin. When there are too many
// streams it is that of the stream that had no range for longest. `no_room`: every one has.
Result side_stream(const Driver& api, DeviceContext& context, StreamHandle user,
                   SideStream*& found) noexcept;
inline void unpin(SideStream* stream) noexcept {
  if (stream) stream->pins.fetch_sub(1, std::memory_order_release);
}
constexpr Result no_room = -1;  // nvspan's, not one of the driver's

// The id of a stream that had ranges before, else its handle: no question is put to the stream.
uint64_t known_stream_id(DeviceContext& context, StreamHandle user) noexcept;

}  // namespace nvspan::cuda
