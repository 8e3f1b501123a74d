// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Events.
#include "fake.hpp"

#include <algorithm>

using namespace fake;

FAKE_EXPORT Result cuEventCreate(void** event, unsigned flags) {
  FAKE_CHECK(cuEventCreate);
  Lock lock(state().mutex);
  Context* context = current();
  if (!context || !context->alive) return invalid_context;
  Event* made = new Event;
  made->context = context;
  made->timing = (flags & 2) == 0;
  context->events.insert(made);
  state().all_events.push_back(made);
  state().events.insert(made);
  *event = made;
  return success;
}

namespace {

// Null: there is none, and `refused` is what the driver answers. An event of a context that was
// destroyed is no misuse: a thread may have asked whether the context is there just before.
Event* event_of(void* handle, Result& refused) {
  Lock lock(state().mutex);
  Event* event = static_cast<Event*>(handle);
  if (state().events.count(event)) return event;
  const auto& all = state().all_events;
  const bool existed = std::find(all.begin(), all.end(), event) != all.end();
  refused = existed ? context_is_destroyed : misuse("an event that does not exist");
  return nullptr;
}

}  // namespace

FAKE_EXPORT Result cuEventRecord(void* handle, void* stream_handle) {
  FAKE_CHECK(cuEventRecord);
  Stream* stream = stream_of(stream_handle);
  Result refused = invalid_handle;
  Event* event = event_of(handle, refused);
  if (!stream || !event || stream->context != event->context) return refused;
  {
    Lock lock(state().mutex);
    event->capture = stream->capture;
    if (stream->capture) {
      event->tips = stream->tips;
      return success;
    }
  }
  uint64_t generation = 0;
  {
    std::lock_guard<std::mutex> lock(event->mutex);
    generation = ++event->recorded;
  }
  stream->push([event, generation] {
    std::lock_guard<std::mutex> lock(event->mutex);
    event->reached = generation;
    event->time = now();
    event->wake.notify_all();
  });
  return success;
}

FAKE_EXPORT Result cuStreamWaitEvent(void* stream_handle, void* handle, unsigned) {
  FAKE_CHECK(cuStreamWaitEvent);
  Stream* stream = stream_of(stream_handle);
  Result refused = invalid_handle;
  Event* event = event_of(handle, refused);
  if (!stream || !event) return refused;
  {
    Lock lock(state().mutex);
    if (event->capture && event->capture->graph) {  // the stream is drawn into the capture
      stream->capture = event->capture;
      event->capture->streams.insert(stream);
      for (Node* node : event->tips) stream->tips.push_back(node);
      return success;
    }
  }
  uint64_t generation = 0;
  {
    std::lock_guard<std::mutex> lock(event->mutex);
    generation = event->recorded;
  }
  {
    std::lock_guard<std::mutex> lock(stream->mutex);
    stream->waited = true;
  }
  stream->push([event, generation] {
    std::unique_lock<std::mutex> lock(event->mutex);
    while (event->reached < generation) event->wake.wait(lock);
  });
  return success;
}

FAKE_EXPORT Result cuEventQuery(void* handle) {
  not_in_a_replay("cuEventQuery");
  Result refused = unsafe();
  Event* event = refused ? nullptr : event_of(handle, refused);
  if (!event) return refused;
  std::lock_guard<std::mutex> lock(event->mutex);
  return event->reached == event->recorded ? success : not_ready;
}

FAKE_EXPORT Result cuEventSynchronize(void* handle) {
  not_in_a_replay("cuEventSynchronize");
  Result refused = unsafe();
  Event* event = refused ? nullptr : event_of(handle, refused);
  if (!event) return refused;
  std::unique_lock<std::mutex> lock(event->mutex);
  while (event->reached < event->recorded) event->wake.wait(lock);
  return success;
}

FAKE_EXPORT Result cuEventElapsedTime(float* ms, void* first_handle, void* second_handle) {
  Result refused = invalid_handle;
  Event* first = event_of(first_handle, refused);
  Event* second = event_of(second_handle, refused);
  if (!first || !second || !first->timing || !second->timing) return refused;
  if (first->context != second->context) return invalid_handle;
  int64_t times[2];
  int at = 0;
  for (Event* event : {first, second}) {
    std::lock_guard<std::mutex> lock(event->mutex);
    if (event->recorded == 0) return misuse("an event that was never recorded");
    if (event->reached != event->recorded) return not_ready;
    times[at++] = event->time;
  }
  *ms = static_cast<float>(static_cast<double>(times[1] - times[0]) / 1e6);
  return success;
}
