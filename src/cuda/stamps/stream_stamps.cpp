// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/stamps/stamps.hpp"

#include "cuda/context/range_pool.hpp"

namespace nvspan::cuda {

namespace {

constexpr size_t most_events = 32768;  // of one stream: half as many ranges in flight

// Under the stream's mutex. Null: no room, or the driver refused.
EventHandle take_event(const Driver& api, SideStream& stream) noexcept {
  if (stream.events.empty()) {
    if (stream.events_made >= most_events) return nullptr;
    const RelaxedCapture relaxed(api);
    constexpr int at_once = 16;
    for (int i = 0; i < at_once; ++i) {
      EventHandle event = nullptr;
      if (api.cuEventCreate(&event, 0) != success) break;
      stream.events.push_back(event);
      ++stream.events_made;
    }
    if (stream.events.empty()) return nullptr;
  }
  const EventHandle event = stream.events.back();
  stream.events.pop_back();
  return event;
}

// A range that ends on another stream must not end before it begins: that stream's partner waits
// for all work given to the partner of the beginning's stream.
Result order_after(const Driver& api, SideStream& begin, SideStream& end) noexcept {
  std::lock_guard<std::mutex> lock(begin.mutex);
  if (!begin.tail) {
    const RelaxedCapture relaxed(api);
    ContextScope scope;
    if (begin.context != end.context && !scope.push(api, begin.context->handle)) {
      return error_invalid_context;
    }
    const Result created = api.cuEventCreate(&begin.tail, event_disable_timing);
    if (created != success) return created;
  }
  const Result recorded = api.cuEventRecord(begin.tail, begin.side);
  return recorded == success ? api.cuStreamWaitEvent(end.side, begin.tail, 0) : recorded;
}

// Under the stream's mutex.
Result call_back(const Driver& api, SideStream& stream, StreamHandle where, DeviceRange& range,
                 bool is_end) noexcept {
  const bool polled = where == stream.side &&
                      (!stream.polled.empty() || (is_end && range.begin_polled) ||
                       stream.callbacks.load(std::memory_order_relaxed) >= most_host_functions);
  EventHandle event = nullptr;
  if (polled) {
    event = take_event(api, stream);
    if (!event) return no_room;
    const Result recorded = api.cuEventRecord(event, where);
    if (recorded != success) {
      stream.events.push_back(event);
      return recorded;
    }
    (is_end ? range.end_polled : range.begin_polled) = true;
  }
  retain(&range);
  stream.callbacks.fetch_add(1, std::memory_order_relaxed);
  if (is_end) stream.ending.fetch_add(1, std::memory_order_relaxed);
  if (polled) {
    stream.polled.push_back({&range, event, is_end});
    return success;
  }
  const Result result = api.cuLaunchHostFunc(where, is_end ? end_on_host : begin_on_host, &range);
  if (result != success) {
    stream.callbacks.fetch_sub(1, std::memory_order_relaxed);
    if (is_end) stream.ending.fetch_sub(1, std::memory_order_relaxed);
    range.references.fetch_sub(1, std::memory_order_relaxed);
  }
  return result;
}

}  // namespace

Result stamp_stream(const Driver& api, SideStream& stream, StreamHandle user, DeviceRange& range,
                    RangeEnd which) noexcept {
  const bool is_end = which == RangeEnd::end;
  const bool on_side = range.placement == Placement::side;
  const bool calls_host = range.backend == Backend::callback && range.epoch != 0;
  const bool uses_event = range.backend == Backend::exact || range.timed;
  if (is_end && calls_host && on_side && range.begin_stream != &stream) {
    const Result ordered = order_after(api, *range.begin_stream, stream);
    if (ordered != success) return ordered;
  }
  std::lock_guard<std::mutex> lock(stream.mutex);
  EventHandle event = nullptr;
  if (uses_event) {
    event = take_event(api, stream);
    if (!event) return no_room;
  }
  const auto undo = [&](Result result) {
    if (event) stream.events.push_back(event);
    return result;
  };
  const StreamHandle where = on_side ? stream.side : user;
  Result result = success;
  if (on_side) {
    result = api.cuEventRecord(stream.fork, user);
    if (result == success) result = api.cuStreamWaitEvent(stream.side, stream.fork, 0);
    if (result != success) return undo(result);
  }
  if (uses_event) {
    result = api.cuEventRecord(event, where);
    if (result != success) return undo(result);
  }
  (is_end ? range.end_stream : range.begin_stream) = &stream;
  if (calls_host) {
    result = call_back(api, stream, where, range, is_end);
    if (result != success) return undo(result);
  }
  if (uses_event) {
    (is_end ? range.end_event : range.begin_event) = event;
    if (is_end) {
      retain(&range);
      stream.pending.push_back(&range);
    }
  }
  return success;
}

}  // namespace nvspan::cuda
