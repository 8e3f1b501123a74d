// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/device_ranges.hpp"

#include <chrono>
#include <cstring>
#include <thread>

#include "annotate/names/thread_names.hpp"
#include "annotate/payload/deferred_batch.hpp"
#include "core/os/clock.hpp"
#include "cuda/collect/poller.hpp"
#include "cuda/context/device_context.hpp"
#include "cuda/stamps/stamps.hpp"

namespace nvspan::cuda {

namespace {

bool broke_context(Result result) noexcept {
  return result == error_context_is_destroyed || result == error_invalid_handle ||
         result == error_invalid_context;
}

// Which backend shows the range, or none: then only its time is wanted.
bool choose_backend(const Options& options, const annotate::ToolTable& tool,
                    const annotate::Outgoing& out, annotate::Domain& domain,
                    Backend& chosen) noexcept {
  // Nsight Compute shows kernels, no times of ranges, and repeats all that lies in a range.
  if (annotate::tool_replays_ranges()) {
    outcome_counts().add(Outcome::not_taken);
    return false;
  }
  chosen = Backend::callback;
  if (options.backend == Backend::callback) return true;
  // A message that the tool has not registered cannot be named in a deferred event.
  const bool exact = out.attributes.messageType != NVTX_MESSAGE_TYPE_ASCII &&
                     annotate::takes_deferred(tool, domain);
  if (exact) chosen = Backend::exact;
  if (exact || options.backend == Backend::automatic) return true;
  outcome_counts().add(Outcome::not_taken);
  return false;
}

void copy_text(DeviceRange& range, const char* text, size_t size) noexcept {
  range.text.reset(new char[size + 1]);
  std::memcpy(range.text.get(), text, size);
  range.text[size] = '\0';
}

// Asked of the system once a thread: a forked child places no range.
uint32_t calling_thread() noexcept {
  thread_local const uint32_t id = annotate::native_thread_id();
  return id;
}

// A captured range is sent to whichever tool listens at a replay: it keeps the whole event.
void keep_event(DeviceRange& range, const annotate::ReadyEvent& event) noexcept {
  range.event.domain = event.domain;
  range.event.level = event.level;
  range.event.attributes = event.attributes;
  if (!event.text) return;
  copy_text(range, event.text, event.text_size);
  range.event.set_text(range.text.get(), event.text_size);
}

Result place_begin(const Driver& api, DeviceContext& context, Target target,
                   const StreamCapture& capture, DeviceRange& range) noexcept {
  range.origin.device = context.device;
  range.origin.stream_handle = reinterpret_cast<uintptr_t>(target.stream);
  if (capture.status == capture_active) {
    range.captured = true;
    range.submit.apply(SubmitEvent::capture);
    range.capture = capture.id;
    range.context = &context;
    range.origin.stream = known_stream_id(context, target.stream);
    return stamp_graph(api, context, capture, range, RangeEnd::begin);
  }
  SideStream* stream = nullptr;
  Result result = side_stream(api, context, target.stream, stream);
  if (result != success) return result;
  range.origin.stream = stream->stream_id;
  result = stamp_stream(api, *stream, target.stream, range, RangeEnd::begin);
  if (!range.begin_stream) unpin(stream);
  return result;
}

bool needs_clock(const DeviceRange& range) noexcept {
  const bool shown = range.backend == Backend::exact && range.epoch != 0;
  return shown || (range.timed && !annotate::tool_replays_ranges());
}

// A range in a graph begins and ends at each replay: it is not told.
void tell_opened(DeviceRange& range, const annotate::ReadyEvent* event,
                 const annotate::ToolTable* tool) noexcept {
  if (range.captured || !event || !tool || range.epoch == 0) return;
  const std::string& domain = event->domain->name();
  range.told.store(annotate::open_device(
      *tool, event->domain->is_default() ? nullptr : domain.c_str(), event->text,
      range.origin.device, range.origin.stream, range.origin.thread, annotate::GroupPlace{}));
}

Outcome reason_of(Result result) noexcept {
  return result == no_room ? Outcome::full : Outcome::driver_error;
}

// Finds the context of the target, makes it current and asks whether the stream captures. Other
// questions about a stream that does would spoil its capture: what launches into it has its context
// current already.
Result locate(const Driver& api, Target target, ContextScope& scope, DeviceContext*& context,
              StreamCapture& capture) noexcept {
  context = nullptr;
  ContextHandle current = nullptr;
  if (api.cuCtxGetCurrent(&current) != success) return success;
  const bool own_stream = !is_default_stream(target.stream);
  if (own_stream && current) {
    const Result result = query_capture(api, target.stream, capture);
    if (result != success) return result;
    if (capture.status == capture_active) context = current_context(api, current);
    if (capture.status != capture_none) return success;
  }
  context = enter_context(api, target, current, scope);
  if (!context || (own_stream && current)) return success;
  return query_capture(api, target.stream, capture);
}

DeviceRange* try_begin(const Driver& api, annotate::ReadyEvent* event,
                       const annotate::ToolTable* tool, const Options& options, Target target,
                       Result& result) noexcept {
  const auto called = static_cast<int64_t>(core::time_stamp());
  annotate::Outgoing out;
  const bool listened = event && tool && annotate::prepare(*event, *tool, out);
  if (!listened && !options.timed) return nullptr;
  Backend backend = Backend::exact;
  const bool shown = listened && choose_backend(options, *tool, out, *event->domain, backend);
  if (!shown && !options.timed) return nullptr;
  ContextScope scope;
  DeviceContext* context = nullptr;
  StreamCapture capture;
  result = locate(api, target, scope, context, capture);
  if (result != success || (capture.status != capture_none && capture.status != capture_active)) {
    outcome_counts().add(Outcome::capture_refused);
    result = success;
    return nullptr;
  }
  if (!context) {
    outcome_counts().add(Outcome::no_cuda);
    return nullptr;
  }
  if (capture.status == capture_active && options.skip_captures) {
    outcome_counts().add(Outcome::capture_skipped);
    return nullptr;
  }
  DeviceRange* range = new_range();
  range->backend = backend;
  range->placement = annotate::tool_replays_ranges() ? Placement::side : options.placement;
  range->timed = options.timed;
  range->origin.launch = next_launch();
  if (capture.status != capture_active) {
    range->origin.launched = called;
    range->origin.thread = calling_thread();
  }
  range->target = target;
  if (event) {
    range->domain = event->domain;
    range->event.domain = event->domain;
  }
  if (shown) {
    range->epoch = out.epoch;
    range->attributes = out.attributes;
    if (backend == Backend::callback) {
      range->origin_schema = annotate::origin_schema(
          *tool, *event->domain, annotate::deferred_payload_of(out.attributes.payloadType));
    }
    if (capture.status != capture_active && out.attributes.messageType == NVTX_MESSAGE_TYPE_ASCII) {
      copy_text(*range, event->text, event->text_size);
      range->attributes.message.ascii = range->text.get();
    }
  }
  if (capture.status == capture_active && event) keep_event(*range, *event);
  result = place_begin(api, *context, target, capture, *range);
  if (result == success) {
    outcome_counts().add(Outcome::begun);
    if (needs_clock(*range)) context->clock.start_if_wanted(api);
    tell_opened(*range, event, listened ? tool : nullptr);
    if (range->begin_polled) wake_poller();
    return range;
  }
  release(range);
  if (broke_context(result)) {
    lose_context(*context);
  } else {
    outcome_counts().add(capture.status == capture_active ? Outcome::capture_refused
                                                          : reason_of(result));
  }
  return nullptr;
}

// The range cannot be ended as it was begun.
void give_up(DeviceRange& range, Outcome why) noexcept {
  outcome_counts().add(why);
  cancel(range);
  abandon_range(&range);
  range.phase.apply(PhaseEvent::lose);
}

}  // namespace

bool available() noexcept {
  const Driver* api = driver();
  return api && accepting() && driver_initialised(*api);
}

bool has_context() noexcept {
  if (!driver_resident()) return false;
  const Driver* api = driver();
  if (!api || !accepting()) return true;
  ContextHandle current = nullptr;
  int count = 0;
  if (api->cuCtxGetCurrent(&current) != success) return false;  // the driver is not initialised
  if (current) return true;
  if (api->cuDeviceGetCount(&count) != success) return false;
  for (DeviceOrdinal device = 0; device < count; ++device) {
    unsigned flags = 0;
    int active = 0;
    if (api->cuDevicePrimaryCtxGetState(device, &flags, &active) == success && active) return true;
  }
  return false;
}

DeviceOrdinal current_device() noexcept {
  const Driver* api = driver();
  DeviceOrdinal device = -1;
  return api && api->cuCtxGetDevice(&device) == success ? device : -1;
}

DeviceRange* begin_range(annotate::ReadyEvent* event, const annotate::ToolTable* tool,
                         const Options& options, Target target) noexcept {
  const Driver* api = driver();
  if (!api || !accepting()) {
    outcome_counts().add(Outcome::no_cuda);
    return nullptr;
  }
  Result result = success;
  DeviceRange* range = try_begin(*api, event, tool, options, target, result);
  // Tries once more after a reset: the context then has a new record.
  if (!range && broke_context(result)) {
    range = try_begin(*api, event, tool, options, target, result);
    if (!range && broke_context(result)) outcome_counts().add(Outcome::driver_error);
  }
  return range;
}

void end_range(DeviceRange* range, const Target* other) noexcept {
  if (range->phase.apply(PhaseEvent::end) != Phase::open) return;
  const Driver* api = driver();
  if (!api || !accepting()) {
    range->phase.apply(PhaseEvent::lose);
    return;
  }
  SideStream* const begin_stream = range->begin_stream;
  DeviceContext* const begin_context = begin_stream ? begin_stream->context : range->context;
  if (begin_context->lost.load()) return give_up(*range, Outcome::context_lost);
  Target target = range->target;
  ContextScope scope;
  DeviceContext* context = begin_context;
  StreamCapture capture;
  if (!still_there(*api, *begin_context)) {
    lose_context(*begin_context);
    return give_up(*range, Outcome::context_lost);
  }
  Result result = success;
  if (other) {
    target = *other;
    result = locate(*api, target, scope, context, capture);
  } else if (enter_again(*api, *begin_context, scope)) {
    result = query_capture(*api, target.stream, capture);
  } else {
    result = error_invalid_context;
  }
  if (result != success || !context) return give_up(*range, Outcome::capture_refused);
  const bool same = range->captured
                        ? capture.status == capture_active && capture.id == range->capture
                        : capture.status == capture_none;
  if (!same) return give_up(*range, Outcome::capture_boundary);
  if (range->captured) {
    result = stamp_graph(*api, *context, capture, *range, RangeEnd::end);
    if (result != success) return give_up(*range, Outcome::capture_refused);
    if (needs_clock(*range)) context->clock.start_if_wanted(*api);
    if (range->backend == Backend::exact) wake_poller();
    return;
  }
  SideStream* stream = begin_stream;
  if (range->target.stream == target.stream && begin_context == context) {
    stream->pins.fetch_add(1);
  } else {
    result = side_stream(*api, *context, target.stream, stream);
  }
  if (result == success) {
    result = stamp_stream(*api, *stream, target.stream, *range, RangeEnd::end);
    if (!range->end_stream) unpin(stream);
  }
  if (result != success) {
    give_up(*range, broke_context(result) ? Outcome::context_lost : reason_of(result));
    if (broke_context(result)) lose_context(*context);
    return;
  }
  if (!range->began.load()) tell(*range, annotate::DeviceState::launched);
  if (needs_clock(*range)) context->clock.start_if_wanted(*api);
  if (range->backend == Backend::exact || range->timed || range->end_polled) wake_poller();
}

void abandon_range(DeviceRange* range) noexcept {
  range->phase.apply(PhaseEvent::end);
  SideStream* stream = range->begin_stream;
  if (range->captured || !stream || !range->begin_event) return;
  std::lock_guard<std::mutex> lock(stream->mutex);
  if (stream->context->lost.load()) return;
  stream->events.push_back(range->begin_event);
  range->begin_event = nullptr;
}

bool is_done(const DeviceRange* range) noexcept {
  if (annotate::tool_replays_ranges() && accepting()) read_in_place();
  const Phase phase = range->phase.now();
  if (phase == Phase::done || phase == Phase::lost) return true;
  const SideStream* stream = range->begin_stream;
  return !accepting() || (stream && stream->context->lost.load());
}

namespace {

// The calling thread is using its context: a calibration that waits for such a thread is started.
void start_wanted_clock(const Driver& api) noexcept {
  ContextHandle current = nullptr;
  if (api.cuCtxGetCurrent(&current) != success || !current) return;
  for (DeviceContext* context : live_contexts()) {
    if (context->handle == current && context->clock.asks() && still_there(api, *context)) {
      context->clock.start_if_wanted(api);
    }
  }
}

// Ranges that were ended and are not over. A stream whose context has died is given up.
bool anything_pending(const Driver& api) noexcept {
  bool pending = false;
  for (DeviceContext* context : live_contexts()) {
    std::vector<SideStream*> streams;
    {
      std::lock_guard<std::mutex> lock(context->mutex);
      for (auto& [key, stream] : context->streams) streams.push_back(stream.get());
    }
    bool lost = false;
    for (SideStream* stream : streams) {
      if (stream->callbacks.load(std::memory_order_acquire) > 0) {
        ContextScope scope;
        const RelaxedCapture relaxed(api);
        const bool there = still_there(api, *context) && scope.push(api, context->handle);
        const Result result = there ? api.cuStreamQuery(stream->side) : error_invalid_context;
        if (result != success && result != error_not_ready) {
          lost = true;
        } else {
          pending = true;
        }
      }
      std::lock_guard<std::mutex> lock(stream->mutex);
      if (!stream->pending.empty()) pending = true;
    }
    if (lost) lose_context(*context);
  }
  return pending;
}

}  // namespace

void synchronize(Target target) noexcept {
  const Driver* api = driver();
  if (!api || !accepting()) return;
  ContextScope scope;
  DeviceContext* context = nullptr;
  StreamCapture capture;
  const Result result = locate(*api, target, scope, context, capture);
  if (result != success || !context || capture.status != capture_none) return;
  const RelaxedCapture relaxed(*api);
  api->cuStreamSynchronize(target.stream);
}

bool flush(double seconds) noexcept {
  const Driver* api = driver();
  if (!api || !accepting()) return true;
  using Clock = std::chrono::steady_clock;
  const auto until = Clock::now() + std::chrono::duration<double>(seconds);
  bool done = false;
  hurry_poller(true);
  uint64_t looked_from = poller_rounds();
  for (;;) {
    if (annotate::tool_replays_ranges()) read_in_place();
    start_wanted_clock(*api);
    const bool pending = anything_pending(*api);
    // Ranges that are over by now are read in the next whole round, and sent in it or the one
    // after.
    if (pending) looked_from = poller_rounds();
    done = !pending &&
           (!poller_needed() || (poller_rounds() > looked_from + 1 && poller_backlog() == 0));
    if (done || Clock::now() >= until) break;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  hurry_poller(false);
  return done;
}

void shut_down(double seconds) noexcept {
  if (!accepting()) return;
  const Driver* api = driver();
  if (api && !live_contexts().empty()) flush(seconds);
  stop_accepting();
  stop_poller(0.5);
  uint64_t left = poller_backlog();
  for (DeviceContext* context : live_contexts()) {
    std::lock_guard<std::mutex> lock(context->mutex);
    for (auto& [key, stream] : context->streams) {
      std::lock_guard<std::mutex> stream_lock(stream->mutex);
      left += stream->pending.size();
    }
  }
  outcome_counts().add(Outcome::at_exit, left);
}

}  // namespace nvspan::cuda
