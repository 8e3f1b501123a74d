// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inject/callbacks/fast_calls.hpp"
#include "inject/decode/attributes.hpp"

#include <cstdint>
#include <utility>

namespace nvspan::inject {

// The five event calls. `fill(call, domain, event)` reads what the program passed. A recorder
// remembers the site under `key`, so that the next such call is a fast one.

template <typename Fill>
trace::Event filled(Call& call, trace::EventKind kind, const DomainView& domain, Fill&& fill) {
  trace::Event event = call.event(kind, domain);
  if (!domain.shown) return event;
  fill(call, domain, event);
  add_malformed_field(call);
  call.set_fields(event);
  return event;
}

template <typename Fill>
void mark(nvtxDomainHandle_t handle, Fill&& fill, const record::SiteKey* key = nullptr) noexcept {
  guarded([&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    trace::Event event = filled(call, trace::EventKind::mark, domain, fill);
    call.session.capture().mark(call.thread, domain, event, key);
  });
}

template <typename Fill>
int push(nvtxDomainHandle_t handle, Fill&& fill, const record::SiteKey* key = nullptr) noexcept {
  static_assert(no_push_pop_tracking == NVTX_NO_PUSH_POP_TRACKING);
  return guarded(no_push_pop_tracking, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    trace::Event event = filled(call, trace::EventKind::push, domain, fill);
    return call.session.capture().push(call.thread, domain, event, key);
  });
}

template <typename Fill>
int pop(nvtxDomainHandle_t handle, Fill&& fill) noexcept {
  return guarded(no_push_pop_tracking, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    trace::Event event = filled(call, trace::EventKind::pop, domain, fill);
    return call.session.capture().pop(call.thread, domain, event);
  });
}

template <typename Fill>
nvtxRangeId_t start(nvtxDomainHandle_t handle, Fill&& fill,
                    const record::SiteKey* key = nullptr) noexcept {
  return guarded(nvtxRangeId_t{0}, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    trace::Event event = filled(call, trace::EventKind::start, domain, fill);
    return nvtxRangeId_t{call.session.capture().start(call.thread, domain, event, key)};
  });
}

template <typename Fill>
void end(nvtxDomainHandle_t handle, nvtxRangeId_t id, Fill&& fill) noexcept {
  guarded([&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    trace::Event event = filled(call, trace::EventKind::end, domain, fill);
    event.range_id = id;
    call.session.capture().end(call.thread, domain, event);
  });
}

// The same calls, on the fast path of a recording where they can be. The slow path is never
// inlined beside it: it would make the fast one save registers that it does not use.

template <typename Input, typename Fill>
[[gnu::noinline, gnu::cold]] void mark_slow(nvtxDomainHandle_t domain, Input input,
                                            Fill fill) noexcept {
  record::SiteKey key;
  mark(domain, fill, remembered_key(handle_bits(domain), input, key) ? &key : nullptr);
}
template <typename Input, typename Fill>
[[gnu::noinline, gnu::cold]] int push_slow(nvtxDomainHandle_t domain, Input input,
                                           Fill fill) noexcept {
  record::SiteKey key;
  return push(domain, fill, remembered_key(handle_bits(domain), input, key) ? &key : nullptr);
}
template <typename Input, typename Fill>
[[gnu::noinline, gnu::cold]] nvtxRangeId_t start_slow(nvtxDomainHandle_t domain, Input input,
                                                      Fill fill) noexcept {
  record::SiteKey key;
  return start(domain, fill, remembered_key(handle_bits(domain), input, key) ? &key : nullptr);
}
[[gnu::noinline, gnu::cold]] inline int pop_slow(nvtxDomainHandle_t domain,
                                                 std::uint64_t ticks) noexcept {
  return pop(domain,
             [ticks](Call&, const DomainView&, trace::Event& event) { event.ticks = ticks; });
}
[[gnu::noinline, gnu::cold]] inline void end_slow(nvtxDomainHandle_t domain, nvtxRangeId_t id,
                                                  std::uint64_t ticks) noexcept {
  end(domain, id, [ticks](Call&, const DomainView&, trace::Event& event) { event.ticks = ticks; });
}

template <typename Input, typename Fill>
void mark_event(nvtxDomainHandle_t domain, Input input, Fill fill) noexcept {
  if (!fast_mark(domain, input)) mark_slow(domain, input, fill);
}

template <typename Input, typename Fill>
int push_event(nvtxDomainHandle_t domain, Input input, Fill fill) noexcept {
  int depth = 0;
  return fast_push(domain, input, depth) ? depth : push_slow(domain, input, fill);
}

template <typename Input, typename Fill>
nvtxRangeId_t start_event(nvtxDomainHandle_t domain, Input input, Fill fill) noexcept {
  nvtxRangeId_t id = 0;
  return fast_start(domain, input, id) ? id : start_slow(domain, input, fill);
}

inline int pop_event(nvtxDomainHandle_t domain) noexcept {
  int depth = 0;
  std::uint64_t ticks = 0;
  return fast_pop(domain, depth, ticks) ? depth : pop_slow(domain, ticks);
}

inline void end_event(nvtxDomainHandle_t domain, nvtxRangeId_t id) noexcept {
  std::uint64_t ticks = 0;
  if (!fast_end(domain, id, ticks)) end_slow(domain, id, ticks);
}

}  // namespace nvspan::inject
