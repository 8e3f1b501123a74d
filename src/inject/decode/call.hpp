// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/immovable.hpp"
#include "core/os/clock.hpp"
#include "inject/decode/nvtx_types.hpp"
#include "inject/session/session.hpp"
#include "inject/session/thread_state.hpp"

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

namespace nvspan::inject {

// One NVTX call that is being handled, with the session's lock held.
class Call : public core::Immovable {
 public:
  explicit Call(Session& owner)
      : session(owner),
        registry(owner.registry()),
        scratch(owner.scratch()),
        thread(owner.current_thread()),
        ts(core::monotonic_ns()) {
    scratch.arena.clear();
    scratch.fields.clear();
    scratch.malformed.clear();
  }

  trace::Event event(trace::EventKind kind) const {
    trace::Event event;
    event.kind = kind;
    event.pid = thread.pid;
    event.tid = thread.tid;
    event.ts = ts;
    event.nesting = thread.nesting;
    event.thread_name = registry.thread_name(thread.tid);
    return event;
  }
  trace::Event event(trace::EventKind kind, const DomainView& domain) const {
    trace::Event result = event(kind);
    result.has_domain = true;
    result.domain = domain.name;
    result.domain_handle = domain.handle;
    return result;
  }

  void add(const trace::Field& field) { scratch.fields.push_back(field); }

  // Gives it the fields added so far.
  void set_fields(trace::Event& event) {
    event.fields = scratch.fields.data();
    event.field_count = scratch.fields.size();
  }
  void emit(trace::Event& event) {
    set_fields(event);
    session.emit(event);
  }
  void emit(trace::EventKind kind, const DomainView& domain) {
    trace::Event event = this->event(kind, domain);
    emit(event);
  }

  Session& session;
  Registry& registry;
  Scratch& scratch;
  ThreadState& thread;
  const std::uint64_t ts;
};

class SessionLock : public core::Immovable {
 public:
  SessionLock(Session& owner, const QuietSection& quiet) noexcept : session_(owner) {
    session_.lock();
    session_.set_wait_mask(quiet.signals());
  }
  ~SessionLock() {
    session_.close_if_failed();
    session_.set_wait_mask(nullptr);
    session_.unlock();
  }

 private:
  Session& session_;
};

// Runs body(Call&) as every callback must run: it never throws, never disturbs the program, does
// nothing (and returns `neutral`) without an open session, and counts what it cannot show: a call
// made from inside another callback, and one for which there is no memory.
template <typename Result, typename Body>
Result guarded(Result neutral, Body&& body) noexcept {
  Session& current = session();
  if (!current.active()) return neutral;
  if (thread_slot().busy) {
    current.count_lost();
    return neutral;
  }
  current.meet_thread();
  const QuietSection quiet;
  const SessionLock lock(current, quiet);
  if (!current.active()) return neutral;
  try {
    Call call(current);
    return std::forward<Body>(body)(call);
  } catch (...) {
    current.count_lost();
    return neutral;
  }
}

template <typename Body>
void guarded(Body&& body) noexcept {
  guarded(0, [&](Call& call) {
    body(call);
    return 0;
  });
}

template <typename Handle>
std::uint64_t handle_bits(Handle handle) noexcept {
  return reinterpret_cast<std::uintptr_t>(handle);
}

// Emits an event of `kind`, unless its domain is hidden, with the fields that body(call) or
// body(call, domain, event) adds.
template <typename Handle, typename Body>
void describe(trace::EventKind kind, Handle domain_handle, Body&& body) noexcept {
  guarded([&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(domain_handle));
    if (!domain.shown) return;
    trace::Event event = call.event(kind, domain);
    if constexpr (std::is_invocable_v<Body, Call&>) {
      body(call);
    } else {
      body(call, domain, event);
    }
    call.emit(event);
  });
}

// The id of something that body(call, domain) registers, with an event of the fields that it adds,
// unless the domain is hidden.
template <typename Body>
std::uint64_t registered(trace::EventKind kind, nvtxDomainHandle_t handle, Body&& body) noexcept {
  return guarded(std::uint64_t{0}, [&](Call& call) {
    const DomainView domain = call.registry.domain(handle_bits(handle));
    const std::uint64_t id = body(call, domain);
    if (domain.shown) call.emit(kind, domain);
    return id;
  });
}

template <typename Handle>
Handle handle_from(std::uint64_t bits) noexcept {
  return reinterpret_cast<Handle>(static_cast<std::uintptr_t>(bits));
}

}  // namespace nvspan::inject
