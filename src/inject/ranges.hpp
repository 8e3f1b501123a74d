// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inject/attributes.hpp"
#include "inject/fast_calls.hpp"

#include <cstdint>
#include <utility>

namespace nvspan {

// The five event calls. `fill(call, domain, event)` reads what the program passed. A recorder
// remembers the site under `key`, so that the next such call is a fast one.

// True when a recording took the event, or its domain is hidden there.
template <typename Use>
bool recorded(Call& call, const DomainView& domain, const SiteKey* key, Use&& use) {
  ThreadWriter* writer = call.session.record_writer();
  if (writer == nullptr) return !call.session.active();
  if (writer->busy.load(std::memory_order_relaxed) != 0) {
    writer->drop(LossReason::reentered);
  } else if (domain.shown) {
    use(call.session.recorder(), *writer);
  } else {
    call.session.recorder().hide(*writer, domain.handle, key);
  }
  return true;
}

template <typename Fill>
void mark(nvtxDomainHandle_t handle, Fill&& fill, const SiteKey* key = nullptr) noexcept {
  guarded([&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    Event event = call.event(EventKind::mark, domain);
    if (domain.shown) fill(call, domain, event);
    if (recorded(call, domain, key, [&](Recorder& recorder, ThreadWriter& writer) {
          recorder.mark(writer, domain.handle, event, key);
        })) {
      return;
    }
    if (!domain.shown) return;
    add_malformed_field(call);
    call.emit(event);
  });
}

template <typename Fill>
int push(nvtxDomainHandle_t handle, Fill&& fill, const SiteKey* key = nullptr) noexcept {
  return guarded(NVTX_NO_PUSH_POP_TRACKING, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    Event event = call.event(EventKind::push, domain);
    if (domain.shown) fill(call, domain, event);
    int depth = NVTX_NO_PUSH_POP_TRACKING;
    if (recorded(call, domain, key, [&](Recorder& recorder, ThreadWriter& writer) {
          depth = recorder.push(writer, domain.handle, event, key);
        })) {
      return depth;
    }
    if (!domain.shown) return NVTX_NO_PUSH_POP_TRACKING;
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
    Event event = call.event(EventKind::pop, domain);
    if (domain.shown) fill(call, domain, event);
    int depth = NVTX_NO_PUSH_POP_TRACKING;
    if (recorded(call, domain, nullptr, [&](Recorder& recorder, ThreadWriter& writer) {
          depth = recorder.pop(writer, domain.handle, event);
        })) {
      return depth;
    }
    if (!domain.shown) return NVTX_NO_PUSH_POP_TRACKING;
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
nvtxRangeId_t start(nvtxDomainHandle_t handle, Fill&& fill, const SiteKey* key = nullptr) noexcept {
  return guarded(nvtxRangeId_t{0}, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    Event event = call.event(EventKind::start, domain);
    if (domain.shown) fill(call, domain, event);
    nvtxRangeId_t id = 0;
    if (recorded(call, domain, key, [&](Recorder& recorder, ThreadWriter& writer) {
          id = recorder.start(writer, domain.handle, event, key);
        })) {
      return id;
    }
    id = call.session.new_range_id();
    if (!domain.shown) return id;
    event.range_id = id;
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
    Event event = call.event(EventKind::end, domain);
    event.range_id = id;
    if (domain.shown) fill(call, domain, event);
    if (recorded(call, domain, nullptr, [&](Recorder& recorder, ThreadWriter& writer) {
          recorder.end(writer, domain.handle, id, event);
        })) {
      return;
    }
    if (!domain.shown) return;
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

// The same calls, on the fast path of a recording where they can be. The careful path is never
// inlined beside it: it would make the fast one save registers that it does not use.

template <typename What, typename Fill>
[[gnu::noinline, gnu::cold]] void mark_carefully(nvtxDomainHandle_t domain, What what,
                                                 Fill fill) noexcept {
  SiteKey key;
  mark(domain, fill, remembered_key(handle_bits(domain), what, key) ? &key : nullptr);
}
template <typename What, typename Fill>
[[gnu::noinline, gnu::cold]] int push_carefully(nvtxDomainHandle_t domain, What what,
                                                Fill fill) noexcept {
  SiteKey key;
  return push(domain, fill, remembered_key(handle_bits(domain), what, key) ? &key : nullptr);
}
template <typename What, typename Fill>
[[gnu::noinline, gnu::cold]] nvtxRangeId_t start_carefully(nvtxDomainHandle_t domain, What what,
                                                           Fill fill) noexcept {
  SiteKey key;
  return start(domain, fill, remembered_key(handle_bits(domain), what, key) ? &key : nullptr);
}
[[gnu::noinline, gnu::cold]] inline int pop_carefully(nvtxDomainHandle_t domain,
                                                      std::uint64_t ticks) noexcept {
  return pop(domain, [ticks](Call&, const DomainView&, Event& event) { event.ticks = ticks; });
}
[[gnu::noinline, gnu::cold]] inline void end_carefully(nvtxDomainHandle_t domain, nvtxRangeId_t id,
                                                       std::uint64_t ticks) noexcept {
  end(domain, id, [ticks](Call&, const DomainView&, Event& event) { event.ticks = ticks; });
}

template <typename What, typename Fill>
void mark_what(nvtxDomainHandle_t domain, What what, Fill fill) noexcept {
  if (!fast_mark(domain, what)) mark_carefully(domain, what, fill);
}

template <typename What, typename Fill>
int push_what(nvtxDomainHandle_t domain, What what, Fill fill) noexcept {
  int depth = 0;
  return fast_push(domain, what, depth) ? depth : push_carefully(domain, what, fill);
}

template <typename What, typename Fill>
nvtxRangeId_t start_what(nvtxDomainHandle_t domain, What what, Fill fill) noexcept {
  nvtxRangeId_t id = 0;
  return fast_start(domain, what, id) ? id : start_carefully(domain, what, fill);
}

inline int pop_plain(nvtxDomainHandle_t domain) noexcept {
  int depth = 0;
  std::uint64_t ticks = 0;
  return fast_pop(domain, depth, ticks) ? depth : pop_carefully(domain, ticks);
}

inline void end_plain(nvtxDomainHandle_t domain, nvtxRangeId_t id) noexcept {
  std::uint64_t ticks = 0;
  if (!fast_end(domain, id, ticks)) end_carefully(domain, id, ticks);
}

}  // namespace nvspan
