// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/collect/collector.hpp"

#include <algorithm>

#include "core/os/clock.hpp"
#include "cuda/context/range_pool.hpp"
#include "cuda/model/outcome_counts.hpp"
#include "cuda/stamps/stamps.hpp"

namespace nvspan::cuda {

namespace {

constexpr size_t batch_size = 256;
constexpr size_t convert_early = 16384;
constexpr size_t convert_anyway = 65536;
constexpr size_t most_waiting = size_t{1} << 18;
constexpr uint64_t stale_ns = 3'000'000'000;

// Often at first, so that the first ranges do not wait, then once a second.
uint64_t calibration_period(uint64_t count) noexcept {
  constexpr uint64_t ms = 1'000'000;
  return count < 2 ? 5 * ms : count < 4 ? 50 * ms : count < 8 ? 200 * ms : 1000 * ms;
}

enum class Read : uint8_t { done, not_yet, no_clock, failed };

void give_back(SideStream* stream, EventHandle event) noexcept {
  if (!stream || !event) return;
  std::lock_guard<std::mutex> lock(stream->mutex);
  stream->events.push_back(event);
}

Read read_elapsed(const Driver& api, DeviceRange& range) noexcept {
  float ms = 0;
  const Result result = api.cuEventElapsedTime(&ms, range.begin_event, range.end_event);
  if (result == error_not_ready) return Read::not_yet;
  if (result != success) return Read::failed;
  range.elapsed_ms.store(std::max(0.0, static_cast<double>(ms)), std::memory_order_release);
  return Read::done;
}

Read read_range(const Driver& api, DeviceContext& context, DeviceRange& range) noexcept {
  const bool same_context = range.begin_stream->context == &context;
  const bool submitted = range.backend == Backend::exact && range.epoch != 0;
  if (!submitted && same_context) {
    const Read read = read_elapsed(api, range);
    if (read == Read::done) outcome_counts().add(Outcome::timed);
    return read;
  }
  GpuClock& end_clock = context.clock;
  DeviceContext& begin_context = *range.begin_stream->context;
  if (!same_context && !still_there(api, begin_context)) return Read::failed;
  GpuClock& begin_clock = begin_context.clock;
  if (!end_clock.ready() || !begin_clock.ready()) {
    return end_clock.broken() || begin_clock.broken() ? Read::no_clock : Read::not_yet;
  }
  int64_t begin = 0;
  int64_t end = 0;
  Result result = end_clock.event_time(api, range.end_event, end);
  if (result == success) result = begin_clock.event_time(api, range.begin_event, begin);
  if (result == error_not_ready) return Read::not_yet;
  if (result != success) return Read::failed;
  end = std::max(begin, end);
  if (range.timed) {
    range.elapsed_ms.store(static_cast<double>(end - begin) / 1e6, std::memory_order_release);
    if (same_context && read_elapsed(api, range) == Read::failed) return Read::failed;
    outcome_counts().add(Outcome::timed);
  }
  if (submitted) {
    retain(&range);
    context.waiting.push_back({&range, begin, end});
  }
  return Read::done;
}

// Whether an event on one of our streams has happened. Range replay of Nsight Compute refuses to
// ask for an event, not for its stream: the answer may come later there.
Result query(const Driver& api, const SideStream& stream, EventHandle event) noexcept {
  return annotate::tool_replays_ranges() ? api.cuStreamQuery(stream.side) : api.cuEventQuery(event);
}

// Whether both events of a range have happened. Asked before their times are: a tool that watches
// the driver reports each request for a time that is not known yet as an error.
Read look_whether_over(const Driver& api, const SideStream& stream, const DeviceRange& range,
                       bool end_is_over) noexcept {
  Result result = end_is_over ? success : query(api, stream, range.end_event);
  if (result == success && range.begin_stream != &stream) {
    result = query(api, *range.begin_stream, range.begin_event);
  }
  return result == success ? Read::done : result == error_not_ready ? Read::not_yet : Read::failed;
}

// The first range of a stream that is not over: readers of the recorder's file want to know whether
// its work has begun.
void look_whether_begun(const Driver& api, DeviceRange& range) noexcept {
  if (range.told.load(std::memory_order_relaxed) == 0 || range.began.load()) return;
  if (query(api, *range.begin_stream, range.begin_event) == success) tell_begun(range);
}

// The ranges of one stream that are over, in their order. False: the context does not answer.
bool read_stream(const Driver& api, DeviceContext& context, SideStream& stream, bool& left) {
  DeviceRange* batch[batch_size];
  PhaseEvent how[batch_size];
  for (;;) {
    size_t count = 0;
    {
      std::lock_guard<std::mutex> lock(stream.mutex);
      count = std::min(batch_size, stream.pending.size());
      std::copy_n(stream.pending.begin(), count, batch);
    }
    size_t read = 0;
    Read last = Read::done;
    const EventHandle newest = count > 0 ? batch[count - 1]->end_event : nullptr;
    const bool all_over =
        newest && still_there(api, context) && query(api, stream, newest) == success;
    for (; read < count; ++read) {
      DeviceRange& range = *batch[read];
      if (!still_there(api, context)) {
        last = Read::failed;
      } else {
        last = look_whether_over(api, stream, range, all_over);
        if (last == Read::done) last = read_range(api, context, range);
      }
      how[read] = last == Read::no_clock ? PhaseEvent::lose : PhaseEvent::finish;
      if (last == Read::no_clock) {
        outcome_counts().add(Outcome::driver_error);
        last = Read::done;
      }
      if (last != Read::done) break;
    }
    if (last == Read::not_yet) look_whether_begun(api, *batch[read]);
    {
      std::lock_guard<std::mutex> lock(stream.mutex);
      stream.pending.erase(stream.pending.begin(),
                           stream.pending.begin() + static_cast<std::ptrdiff_t>(read));
      for (size_t i = 0; i < read; ++i) {
        if (batch[i]->end_event) stream.events.push_back(batch[i]->end_event);
        if (batch[i]->begin_stream == &stream) stream.events.push_back(batch[i]->begin_event);
      }
    }
    for (size_t i = 0; i < read; ++i) {
      DeviceRange* range = batch[i];
      if (range->begin_stream != &stream) give_back(range->begin_stream, range->begin_event);
      finish(range, how[i]);
    }
    if (last == Read::failed) return false;
    if (read < batch_size) {
      left = left || read < count;
      return true;
    }
  }
}

// Does what host functions would have done, for the events that are over. False: as read_stream.
bool call_polled(const Driver& api, const DeviceContext& context, SideStream& stream, bool& left) {
  for (;;) {
    PolledCall call{};
    {
      std::lock_guard<std::mutex> lock(stream.mutex);
      if (stream.polled.empty()) return true;
      call = stream.polled.front();
    }
    if (!still_there(api, context)) return false;
    const Result result = api.cuEventQuery(call.event);
    const bool too_early = call.is_end && !begin_was_reached(call.range->submit.now());
    if (result == error_not_ready || (result == success && too_early)) {
      left = true;
      return true;
    }
    if (result != success) return false;
    (call.is_end ? end_on_host : begin_on_host)(call.range);
    std::lock_guard<std::mutex> lock(stream.mutex);
    stream.polled.pop_front();
    stream.events.push_back(call.event);
  }
}

std::vector<SideStream*> streams_of(DeviceContext& context) {
  std::lock_guard<std::mutex> lock(context.mutex);
  std::vector<SideStream*> found;
  for (auto& [key, stream] : context.streams) found.push_back(stream.get());
  return found;
}

// Whether something here needs the clock, and whether there is anything at all.
struct Needs {
  bool anything = false;
  bool clock = false;
};

Needs needs_of(DeviceContext& context, const std::vector<SideStream*>& streams) {
  Needs needs;
  for (SideStream* stream : streams) {
    std::lock_guard<std::mutex> lock(stream->mutex);
    needs.anything = needs.anything || !stream->polled.empty();
    if (stream->pending.empty()) continue;
    const DeviceRange& first = *stream->pending.front();
    const DeviceRange& last = *stream->pending.back();
    needs.anything = true;
    needs.clock = needs.clock || (first.backend == Backend::exact && first.epoch != 0) ||
                  (last.backend == Backend::exact && last.epoch != 0) ||
                  first.begin_stream->context != &context;
  }
  if (!context.given.empty()) needs.anything = true;
  if (!context.waiting.empty() || context.clock.running()) needs.anything = needs.clock = true;
  return needs;
}

void calibrate(const Driver& api, DeviceContext& context, bool hurry) noexcept {
  GpuClock& clock = context.clock;
  const uint64_t now = core::monotonic_ns();
  const uint64_t age = now - clock.last_calibration();
  const bool due = clock.last_calibration() == 0 || age > calibration_period(clock.calibrations());
  const bool urgent = context.waiting.size() > convert_early || (hurry && !clock.fresh());
  if ((due || urgent) && !clock.start(api)) {
    if (!still_there(api, context)) return;
    // It never will be: the ranges that need the clock are not shown.
    outcome_counts().add(Outcome::driver_error, context.waiting.size());
    for (const ReadRange& read : context.waiting) release(read.range);
    context.waiting.clear();
    return;
  }
  const bool completed = clock.advance(api);
  if (context.waiting.empty() || clock.calibrations() < clock.needed_calibrations() ||
      !clock.ready()) {
    if (context.waiting.size() > most_waiting) {
      outcome_counts().add(Outcome::full, context.waiting.size());
      for (const ReadRange& read : context.waiting) release(read.range);
      context.waiting.clear();
    }
    return;
  }
  const uint64_t new_age = core::monotonic_ns() - clock.last_calibration();
  if (completed || (hurry && (clock.fresh() || clock.stalled())) || new_age > stale_ns ||
      context.waiting.size() > convert_anyway) {
    submit_waiting(context);
  }
}

}  // namespace

namespace {

// Submits the ranges that were read from a lost context, with the clock as far as it is known, and
// drops the context.
void give_up(DeviceContext& context) noexcept {
  if (!context.waiting.empty() && context.clock.ready()) submit_waiting(context);
  lose_context(context);
}

// With `reading` held.
Activity read_held(const Driver& api, DeviceContext& context, bool hurry) noexcept {
  const std::vector<SideStream*> streams = streams_of(context);
  const bool ring_alive = context.ring.prepared() && context.ring.alive() > 0;
  Needs needs = needs_of(context, streams);
  if (!needs.anything && !ring_alive) return Activity::none;
  ContextScope scope;
  if (!still_there(api, context) || !scope.push(api, context.handle)) {
    give_up(context);
    return Activity::none;
  }
  bool left = false;
  for (SideStream* stream : streams) {
    if (!call_polled(api, context, *stream, left) || !read_stream(api, context, *stream, left)) {
      give_up(context);
      return Activity::working;
    }
  }
  if (!still_there(api, context)) {
    give_up(context);
    return Activity::working;
  }
  if (!context.given.empty()) context.given.take(context.waiting);
  const size_t stamps = ring_alive ? context.ring.read(context.waiting, outcome_counts()) : 0;
  if (needs.clock || !context.waiting.empty()) calibrate(api, context, hurry);
  if (!still_there(api, context)) {
    give_up(context);
    return Activity::working;
  }
  if (context.clock.running()) return Activity::calibrating;
  if (left || stamps || !context.waiting.empty()) {
    return Activity::working;
  }
  return ring_alive ? Activity::watching : Activity::none;
}

}  // namespace

Activity read_context(const Driver& api, DeviceContext& context, bool hurry,
                      uint64_t& backlog) noexcept {
  if (context.reading.exchange(true)) return Activity::none;  // another thread drops it
  const Activity activity = read_held(api, context, hurry);
  backlog += context.waiting.size() + (context.clock.running() ? 1 : 0);
  context.reading.store(false);
  drop_if_lost(context);
  return activity;
}

}  // namespace nvspan::cuda
