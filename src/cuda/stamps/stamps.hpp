// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Places the two ends of a range where the GPU meets them: on a stream, or in the graph that is
// being captured from it.

#include "cuda/context/device_context.hpp"
#include "cuda/model/device_range.hpp"

namespace nvspan::cuda {

// The state of a stream's capture, from the driver.
struct StreamCapture {
  StreamHandle stream = nullptr;
  int status = capture_none;
  unsigned long long id = 0;
  GraphHandle graph = nullptr;
  const GraphNode* nodes = nullptr;  // what the stream's next work would depend on
  size_t count = 0;
};

enum class RangeEnd : bool { begin, end };

// Must come before anything else touches the stream: an event recorded on a capturing stream would
// draw nvspan's side stream into the program's capture and spoil it.
Result query_capture(const Driver& api, StreamHandle stream, StreamCapture& capture) noexcept;

// Puts one end of the range onto the program's stream (and its partner, which is pinned and becomes
// the range's to unpin). On failure nothing is left behind. `no_room`: too many ranges in flight.
Result stamp_stream(const Driver& api, SideStream& stream, StreamHandle user, DeviceRange& range,
                    RangeEnd which) noexcept;

// Puts one end of the range into the graph that `capture` makes. On failure nothing of it will ever
// run.
Result stamp_graph(const Driver& api, DeviceContext& context, const StreamCapture& capture,
                   DeviceRange& range, RangeEnd which) noexcept;

// The host functions.
void begin_on_host(void* range);
void end_on_host(void* range);
void begin_replay_on_host(void* range);
void end_replay_on_host(void* range);
void retire(void* range);

// Gives up a range whose end will never come.
void cancel(DeviceRange& range) noexcept;

}  // namespace nvspan::cuda
