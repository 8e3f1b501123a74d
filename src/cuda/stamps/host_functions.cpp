// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Functions that the driver calls on its threads. None of them calls CUDA, waits for a lock of
// nvspan's or uses Python.
#include "cuda/context/range_pool.hpp"
#include "cuda/model/outcome_counts.hpp"
#include "cuda/stamps/stamps.hpp"

namespace nvspan::cuda {

namespace {

const annotate::ToolTable* tool_of(uint64_t epoch) noexcept {
  const annotate::ToolTable* tool = annotate::closing_tool();
  return tool && tool->epoch.load(std::memory_order_acquire) == epoch ? tool : nullptr;
}

// The schema is of the tool that listened at the capture: another tool gets the range without it.
annotate::Span start_replay(DeviceRange& range, const annotate::ToolTable& tool) noexcept {
  annotate::Outgoing out;
  if (!annotate::prepare(range.event, tool, out)) return {};
  const uint64_t schema = out.epoch == range.epoch ? range.origin_schema : 0;
  return {annotate::send_device_start(out, tool, schema, range.origin), out.epoch,
          range.event.domain};
}

// False: it is zero, as the context was given up.
bool take_one(std::atomic<uint64_t>& counter) noexcept {
  uint64_t count = counter.load(std::memory_order_relaxed);
  while (count > 0 && !counter.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) {
  }
  return count > 0;
}

// Both ends were reached; the later one calls this. A context that was given up has counted the
// range as lost already.
void conclude(const DeviceRange& range, bool shown) noexcept {
  const bool counts = take_one(range.end_stream->ending);
  const auto count = [&](Outcome outcome) {
    if (counts) outcome_counts().add(outcome);
  };
  if (stopping()) return count(Outcome::at_exit);
  const bool sent = shown && tool_of(range.epoch);
  if (shown) annotate::end_span(range.span);
  count(sent ? Outcome::sent_callback : Outcome::tool_gone);
}

// The end was reached on a stream of another context, and the beginning never will be.
bool begin_is_lost(const DeviceRange& range, SubmitState before) noexcept {
  return before == SubmitState::waiting && range.begin_stream->context->lost.load();
}

// Whether the tool that listened when the range began was sent the start.
bool send_start(DeviceRange& range) noexcept {
  if (stopping() || range.submit.now() == SubmitState::given_up) return false;
  const annotate::ToolTable* tool = tool_of(range.epoch);
  if (!tool) return false;
  annotate::Outgoing out;
  out.attributes = range.attributes;
  out.source = &range.event;
  out.domain = range.domain->handle();
  out.epoch = range.epoch;
  range.span = {annotate::send_device_start(out, *tool, range.origin_schema, range.origin),
                range.epoch, range.domain};
  return true;
}

}  // namespace

void begin_on_host(void* data) {
  DeviceRange* range = static_cast<DeviceRange*>(data);
  tell_begun(*range);
  const bool sent = send_start(*range);
  const SubmitState before =
      range->submit.apply(sent ? SubmitEvent::begin_sent : SubmitEvent::begin_left_out);
  if (before == SubmitState::end_first) conclude(*range, sent);
  if (before == SubmitState::given_up && sent) annotate::end_span(range->span);
  take_one(range->begin_stream->callbacks);
  release(range);
}

void end_on_host(void* data) {
  DeviceRange* range = static_cast<DeviceRange*>(data);
  tell(*range, annotate::DeviceState::ended);
  const SubmitState before = range->submit.apply(SubmitEvent::end_reached);
  if (before == SubmitState::shown || before == SubmitState::left_out) {
    conclude(*range, before == SubmitState::shown);
  }
  SideStream& stream = *range->end_stream;
  if (begin_is_lost(*range, before) && take_one(stream.ending)) {
    outcome_counts().add(Outcome::context_lost);
  }
  if (!range->timed) range->phase.apply(PhaseEvent::finish);
  take_one(stream.callbacks);
  release(range);
}

void begin_replay_on_host(void* data) {
  DeviceRange* range = static_cast<DeviceRange*>(data);
  if (stopping() || !is_complete(range->submit.now())) return;
  const annotate::ToolTable* tool = annotate::listening_tool();
  if (!tool) return;
  if (range->submit.apply(SubmitEvent::replay_begins) != SubmitState::between_replays) {
    outcome_counts().add(Outcome::ambiguous);
    return;
  }
  range->span = start_replay(*range, *tool);
  if (range->span.epoch == 0) {
    range->submit.apply(SubmitEvent::replay_over);
  } else if (range->submit.apply(SubmitEvent::replay_sent) == SubmitState::given_up) {
    annotate::end_span(range->span);
  }
}

void end_replay_on_host(void* data) {
  DeviceRange* range = static_cast<DeviceRange*>(data);
  if (range->submit.apply(SubmitEvent::replay_ends) != SubmitState::shown) return;
  const annotate::Span span = range->span;
  range->submit.apply(SubmitEvent::replay_over);
  if (stopping()) {
    outcome_counts().add(Outcome::at_exit);
    return;
  }
  outcome_counts().add(tool_of(span.epoch) ? Outcome::sent_callback : Outcome::tool_gone);
  annotate::end_span(span);
  range->phase.apply(PhaseEvent::finish);
}

void retire(void* data) {
  DeviceRange* range = static_cast<DeviceRange*>(data);
  range->submit.apply(SubmitEvent::retire);
  release(range);
}

void cancel(DeviceRange& range) noexcept {
  if (range.submit.apply(SubmitEvent::give_up) == SubmitState::shown)
    annotate::end_span(range.span);
}

}  // namespace nvspan::cuda
