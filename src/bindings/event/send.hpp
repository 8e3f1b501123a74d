// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Sends what Python gave as an event: message and payload callables evaluated, data encoded.

#include "bindings/support/py.hpp"
#include "annotate/event/event.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/event/event_fields.hpp"

namespace nvspan::bindings {

// As send_fields for fields that are special(). Never inlined: a plain event would reserve a stack
// that it does not use.
template <class Send>
[[gnu::noinline]] bool send_special(EventFields& fields, const annotate::ToolTable& tool,
                                    bool& failed_lazily, Send&& send) noexcept {
  const annotate::Domain& domain = *fields.event.domain;
  if (!fields.event.domain->connected(tool) || fields.event.level > domain.level()) return false;
  EventFields evaluated;
  EventFields* ready = &fields;
  if (fields.lazy()) {
    evaluate_fields(evaluated, fields, failed_lazily);
    ready = &evaluated;
  }
  // Before the event is armed: this may run Python, and with it a change of tools.
  PayloadBuffer buffer;
  annotate::PayloadView view;
  const bool with_data = ready->has_data && encode_data(*ready, buffer, view);
  annotate::Outgoing out;
  const bool wanted = annotate::prepare(ready->event, tool, out);
  if (wanted) {
    annotate::AttachedPayload attached;
    if (with_data) attached.attach(out, tool, view);
    send(out);
  }
  if (ready == &evaluated) clear_fields(evaluated);
  return wanted;
}

// Sends `fields` by `send` to the tool, message and payload callables evaluated and data encoded.
// Returns false if the domain is not wanted.
template <class Send>
[[gnu::always_inline]] inline bool send_fields(EventFields& fields, const annotate::ToolTable& tool,
                                               bool& failed_lazily, Send&& send) noexcept {
  annotate::Outgoing out;
  if (fields.special()) return send_special(fields, tool, failed_lazily, send);
  if (!annotate::prepare(fields.event, tool, out)) return false;
  send(out);
  return true;
}

// The epoch of the tool that a push went to; 0: not sent.
inline uint64_t send_push_of(const void* owner, EventFields& fields,
                             const annotate::ToolTable& tool, bool& failed_lazily) noexcept {
  uint64_t epoch = 0;
  send_fields(fields, tool, failed_lazily, [&](annotate::Outgoing& event) {
    event.owner = owner;
    annotate::send_push(event, tool);
    epoch = event.epoch;
  });
  return epoch;
}

inline annotate::Span send_start_of(EventFields& fields, const annotate::ToolTable& tool,
                                    bool& failed_lazily) noexcept {
  annotate::Span span;
  send_fields(fields, tool, failed_lazily, [&](const annotate::Outgoing& event) {
    span = {annotate::send_start(event, tool), event.epoch, fields.event.domain};
  });
  return span;
}

inline void notice_overflow(const EventFields& fields) noexcept {
  if (overflow_pending(*fields.event.domain)) warn_overflow(*fields.event.domain);
}

}  // namespace nvspan::bindings
