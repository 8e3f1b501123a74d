// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What the driver calls on threads of its own. Nothing here calls CUDA, waits for a lock of ours or
// knows of Python.
#include "cuda/context/range_pool.hpp"
#include "cuda/model/outcome_counts.hpp"
#include "cuda/stamps/stamps.hpp"

namespace nvspan::cuda {

namespace {

const annotate::ToolTable* tool_of(uint64_t epoch) noexcept {
  const annotate::ToolTable* tool = annotate::closing_tool();
  return tool && tool->epoch.load(std::memory_order_acquire) == epoch ? tool : nullptr;
}

void end_if_running(DeviceRange& range) noexcept {
  if (range.running.exchange(false, std::memory_order_acq_rel)) annotate::end_span(range.span);
}

// The schema is of the tool that listened at the capture: another one is told without it.
annotate::Span start_replay(DeviceRange& range, const annotate::ToolTable& tool) noexcept {
  annotate::Outgoing out;
  if (!annotate::prepare(range.event, tool, out)) return {};
  const uint64_t schema = out.epoch == range.epoch ? range.origin_schema : 0;
  return {annotate::send_device_start(out, tool, schema, range.origin), out.epoch,
          range.event.domain};
}

// A context that was given up has counted its host functions as lost already.
void leave(SideStream& stream) noexcept {
  uint64_t count = stream.callbacks.load(std::memory_order_relaxed);
  while (count > 0 &&
         !stream.callbacks.compare_exchange_weak(count, count - 1, std::memory_order_acq_rel)) {
  }
}

// Both ends have come, in whichever order. The later of the two calls this, or both.
void conclude(DeviceRange& range) noexcept {
  if (range.concluded.exchange(true)) return;
  if (range.running.load(std::memory_order_acquire)) {
    const bool sent = !stopping() && tool_of(range.epoch);
    if (!stopping()) end_if_running(range);
    outcome_counts().add(sent         ? Outcome::sent_callback
                         : stopping() ? Outcome::at_exit
                                      : Outcome::tool_gone);
  } else if (!range.cancelled.load(std::memory_order_acquire)) {
    outcome_counts().add(stopping() ? Outcome::at_exit : Outcome::tool_gone);
  }
}

}  // namespace

void begin_on_host(void* data) {
  DeviceRange* range = static_cast<DeviceRange*>(data);
  if (!stopping() && !range->cancelled.load(std::memory_order_acquire)) {
    if (const annotate::ToolTable* tool = tool_of(range->epoch)) {
      annotate::Outgoing out;
      out.attributes = range->attributes;
      out.source = &range->event;
      out.domain = range->domain->handle();
      out.epoch = range->epoch;
      range->span = {annotate::send_device_start(out, *tool, range->origin_schema, range->origin),
                     range->epoch, range->domain};
      range->running.store(true, std::memory_order_release);
      if (range->cancelled.load(std::memory_order_acquire)) end_if_running(*range);
    }
  }
  range->begin_told.store(true);
  if (range->end_came.load()) conclude(*range);
  leave(*range->begin_stream);
  release(range);
}

void end_on_host(void* data) {
  DeviceRange* range = static_cast<DeviceRange*>(data);
  range->end_came.store(true);
  if (range->begin_told.load()) conclude(*range);
  SideStream& stream = *range->end_stream;
  if (!range->timed) range->phase.store(Phase::done, std::memory_order_release);
  leave(stream);
  release(range);
}

void begin_replay_on_host(void* data) {
  DeviceRange* range = static_cast<DeviceRange*>(data);
  if (stopping() || !range->complete.load(std::memory_order_acquire)) return;
  const annotate::ToolTable* tool = annotate::listening_tool();
  if (!tool) return;
  if (range->started.exchange(true, std::memory_order_acq_rel)) {
    outcome_counts().add(Outcome::ambiguous);
    return;
  }
  range->span = start_replay(*range, *tool);
  if (range->span.epoch == 0) {
    range->started.store(false, std::memory_order_release);
  } else {
    range->running.store(true, std::memory_order_release);
  }
}

void end_replay_on_host(void* data) {
  DeviceRange* range = static_cast<DeviceRange*>(data);
  if (!range->running.exchange(false, std::memory_order_acq_rel)) return;
  const annotate::Span span = range->span;
  range->started.store(false, std::memory_order_release);
  if (stopping()) {
    outcome_counts().add(Outcome::at_exit);
    return;
  }
  outcome_counts().add(tool_of(span.epoch) ? Outcome::sent_callback : Outcome::tool_gone);
  annotate::end_span(span);
  range->phase.store(Phase::done, std::memory_order_release);
}

void retire(void* data) {
  DeviceRange* range = static_cast<DeviceRange*>(data);
  range->retired.store(true, std::memory_order_release);
  release(range);
}

void cancel(DeviceRange& range) noexcept {
  range.cancelled.store(true, std::memory_order_release);
  end_if_running(range);
}

}  // namespace nvspan::cuda
