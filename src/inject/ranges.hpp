// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inject/attributes.hpp"

#include <cstdint>
#include <utility>

namespace nvspan {

// The five event calls. `fill(call, domain, event)` reads what the program passed.

template <typename Fill>
void mark(nvtxDomainHandle_t handle, Fill&& fill) noexcept {
  guarded([&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    if (!domain.shown) return;
    Event event = call.event(EventKind::mark, domain);
    fill(call, domain, event);
    add_malformed_field(call);
    call.emit(event);
  });
}

template <typename Fill>
int push(nvtxDomainHandle_t handle, Fill&& fill) noexcept {
  return guarded(NVTX_NO_PUSH_POP_TRACKING, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    if (!domain.shown) return NVTX_NO_PUSH_POP_TRACKING;
    Event event = call.event(EventKind::push, domain);
    fill(call, domain, event);
    add_malformed_field(call);
    DomainStack& stack = call.thread.stack(domain.handle);
    event.depth = static_cast<std::int32_t>(stack.ranges.size());
    stack.ranges.push_back(OpenRange::keep(event, domain.handle, call.session.pool()));
    ++call.thread.nesting;
    call.emit(event);
    return static_cast<int>(event.depth);
  });
}

template <typename Fill>
int pop(nvtxDomainHandle_t handle, Fill&& fill) noexcept {
  return guarded(NVTX_NO_PUSH_POP_TRACKING, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    if (!domain.shown) return NVTX_NO_PUSH_POP_TRACKING;
    Event event = call.event(EventKind::pop, domain);
    fill(call, domain, event);
    add_malformed_field(call);
    DomainStack& stack = call.thread.stack(domain.handle);
    OpenRange range;
    if (!stack.ranges.empty()) {
      range = stack.ranges.back();
      stack.ranges.pop_back();
      --call.thread.nesting;
      range.close(event);
      event.depth = static_cast<std::int32_t>(stack.ranges.size());
    }
    call.emit(event);
    range.release(call.session.pool());
    return static_cast<int>(event.depth);
  });
}

template <typename Fill>
nvtxRangeId_t start(nvtxDomainHandle_t handle, Fill&& fill) noexcept {
  return guarded(nvtxRangeId_t{0}, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    const nvtxRangeId_t id = call.session.new_range_id();
    if (!domain.shown) return id;
    Event event = call.event(EventKind::start, domain);
    event.range_id = id;
    fill(call, domain, event);
    add_malformed_field(call);
    call.session.keep_started(event, domain.handle);
    call.emit(event);
    return id;
  });
}

template <typename Fill>
void end(nvtxDomainHandle_t handle, nvtxRangeId_t id, Fill&& fill) noexcept {
  guarded([&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    if (!domain.shown) return;
    Event event = call.event(EventKind::end, domain);
    event.range_id = id;
    fill(call, domain, event);
    add_malformed_field(call);
    OpenRange range;
    if (call.session.take_started(id, range)) {
      const std::int32_t nesting = event.nesting;
      range.close(event);
      event.nesting = nesting;
      if (range.domain != domain.handle) {
        call.add(Field::string("started_in", call.registry.domain(range.domain).name));
      }
    }
    call.emit(event);
    range.release(call.session.pool());
  });
}

}  // namespace nvspan
