// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A range that shows when a stream of the GPU did the enclosed work.

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "annotate/event/event.hpp"
#include "annotate/payload/device_origin.hpp"
#include "annotate/tool/device_states.hpp"
#include "cuda/driver/driver.hpp"
#include "cuda/model/range_life.hpp"

namespace nvspan::cuda {

class DeviceContext;
struct SideStream;

enum class Backend : uint8_t { automatic, callback, exact };
enum class Placement : uint8_t { side, stream };

struct Options {
  Backend backend = Backend::automatic;
  Placement placement = Placement::side;
  bool timed = false;
  bool skip_captures = false;
};

// A stream as its framework knows it. `device` is -1 where the framework does not state it: the
// stream then gives its context, and a default stream belongs to the calling thread's context.
struct Target {
  StreamHandle stream = nullptr;
  DeviceOrdinal device = -1;
};

// One device range. Reference counted: a handle holds one reference, the GPU's pending work
// another.
struct DeviceRange {
  std::atomic<uint32_t> references{1};
  RangePhase phase;
  RangeSubmit submit;
  Backend backend = Backend::callback;
  Placement placement = Placement::side;
  bool timed = false;
  bool captured = false;
  bool of_rank = false;            // of a communicator: `origin.of_rank`
  std::atomic<bool> began{false};  // the GPU has reached its beginning, as it was last told
  std::atomic<uint64_t> told{0};   // as the tool knows the open range; 0: it does not
  uint64_t epoch = 0;              // of the tool that was listening; 0: none
  annotate::DeviceOrigin origin;
  Target target;
  annotate::Domain* domain = nullptr;
  nvtxEventAttributes_t attributes{};
  std::unique_ptr<char[]> text;  // of a message that is not registered, or of a captured range
  SideStream* begin_stream = nullptr;
  SideStream* end_stream = nullptr;
  std::atomic<double> elapsed_ms{-1};

  // callback
  bool begin_polled = false;   // the poller looks for its beginning, and so for its end
  bool end_polled = false;     // or for its end alone
  uint64_t origin_schema = 0;  // of the tool of `epoch`; 0: it takes no schemas
  annotate::Span span;         // of the start that was sent, while it is `shown`

  // exact, or timed
  EventHandle begin_event = nullptr;
  EventHandle end_event = nullptr;

  // captured
  DeviceContext* context = nullptr;
  unsigned long long capture = 0;
  GraphNode begin_node = nullptr;
  uint32_t stamp_id = 0;
  annotate::ReadyEvent event;
};

// Tells the tool how far the range is. What has ended is told once.
inline void tell(DeviceRange& range, annotate::DeviceState state) noexcept {
  const bool over = state == annotate::DeviceState::ended;
  const uint64_t told = over ? range.told.exchange(0) : range.told.load(std::memory_order_relaxed);
  if (told != 0) annotate::tell_device_state(told, state);
}
inline void tell_begun(DeviceRange& range) noexcept {
  if (!range.began.exchange(true)) tell(range, annotate::DeviceState::begun);
}

}  // namespace nvspan::cuda
