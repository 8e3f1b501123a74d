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
  int status = capture_none;
  unsigned long long id = 0;
  GraphHandle graph = nullptr;
  const GraphNode* nodes = nullptr;  // what the stream's next work would depend on
  size_t count = 0;
};

// Must come before anything else touches the stream: an event recorded on a capturing stream would
// draw nvspan's side stream into the program's capture and spoil it.
Result query_capture(const Driver& api, StreamHandle stream, StreamCapture& capture) noexcept;

// Puts one end of the range onto the program's stream (and its partner, which is pinned and becomes
// the range's to unpin). On failure nothing is left behind. `no_room`: too many ranges in flight.
Result stamp_stream(const Driver& api, SideStream& stream, StreamHandle user, DeviceRange& range,
                    bool is_end) noexcept;

// Puts one end of the range into the graph. On failure nothing of it will ever run.
Result stamp_graph(const Driver& api, DeviceContext& context, StreamHandle stream,
                   const StreamCapture& capture, DeviceRange& range, bool is_end) noexcept;

// The host functions.
void begin_on_host(void* range);
void end_on_host(void* range);
void begin_replay_on_host(void* range);
void end_replay_on_host(void* range);
void retire(void* range);

// Gives up a range whose end will never come.
void cancel(DeviceRange& range) noexcept;

}  // namespace nvspan::cuda
