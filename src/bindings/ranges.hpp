// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// mark, push_range, pop_range, start_range, end_range: of the module and of Domain.

#include "bindings/py.hpp"
#include "annotate/open_ranges.hpp"
#include "bindings/event_fields.hpp"

namespace nvspan {

int ranges_add_to_module(PyObject* module);

// As send_fields for fields that are special().
template <class Send>
bool send_special(EventFields& fields, const ToolTable& tool, bool& failed_lazily,
                  Send&& send) noexcept {
  const Domain& domain = *fields.event.domain;
  if (!fields.event.domain->connected(tool) || fields.event.level > domain.level()) return false;
  EventFields evaluated;
  EventFields* ready = &fields;
  if (fields.lazy()) {
    evaluate_fields(evaluated, fields, failed_lazily);
    ready = &evaluated;
  }
  // Before the event is armed: this may run Python, and with it a change of tools.
  PayloadBuffer buffer;
  PayloadView view;
  const bool with_data = ready->has_data && encode_data(*ready, buffer, view);
  Outgoing out;
  const bool wanted = arm(ready->event, tool, out);
  if (wanted) {
    AttachedPayload attached;
    if (with_data) attached.attach(out, tool, view);
    send(out);
  }
  if (ready == &evaluated) clear_fields(evaluated);
  return wanted;
}

// Sends `fields` by `send` to the tool, message and payload callables evaluated and data encoded.
// Returns false if the domain is not wanted.
template <class Send>
bool send_fields(EventFields& fields, const ToolTable& tool, bool& failed_lazily,
                 Send&& send) noexcept {
  Outgoing out;
  if (fields.special()) return send_special(fields, tool, failed_lazily, send);
  if (!arm(fields.event, tool, out)) return false;
  send(out);
  return true;
}

// The epoch of the tool that a push went to; 0: not sent.
inline uint64_t send_push_of(const void* owner, EventFields& fields, const ToolTable& tool,
                             bool& failed_lazily) noexcept {
  uint64_t epoch = 0;
  send_fields(fields, tool, failed_lazily, [&](Outgoing& event) {
    event.owner = owner;
    send_push(event, tool);
    epoch = event.epoch;
  });
  return epoch;
}

inline Span send_start_of(EventFields& fields, const ToolTable& tool,
                          bool& failed_lazily) noexcept {
  Span span;
  send_fields(fields, tool, failed_lazily, [&](const Outgoing& event) {
    span = {send_start(event, tool), event.epoch, fields.event.domain};
  });
  return span;
}

PyObject* domain_mark(PyObject* domain, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames);
PyObject* domain_push_range(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                            PyObject* kwnames);
PyObject* domain_pop_range(PyObject* domain, PyObject*);
PyObject* domain_start_range(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames);
PyObject* domain_end_range(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                           PyObject* kwnames);

// annotate() in a given domain: an annotation, or the decorated function or class.
PyObject* annotate_in_domain(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                             PyObject* kwnames);

}  // namespace nvspan
