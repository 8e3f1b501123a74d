// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// mark, push_range, pop_range, start_range, end_range: of the module and of Domain.

#include "annotate/open_ranges.hpp"
#include "bindings/event_fields.hpp"
#include "bindings/py.hpp"

namespace nvspan {

int ranges_add_to_module(PyObject* module);

// Sends `fields` by `send` to the tool, message and payload callables evaluated. Returns false if
// the domain is not wanted.
template <class Send>
bool send_fields(EventFields& fields, const ToolTable& tool, bool& failed_lazily,
                 Send&& send) noexcept {
  if (fields.lazy()) {
    if (!fields.event.domain->connected(tool)) return false;
    EventFields evaluated;
    evaluate_fields(evaluated, fields, failed_lazily);
    const bool wanted = arm(evaluated.event, tool);
    if (wanted) send(evaluated.event);
    clear_fields(evaluated);
    return wanted;
  }
  if (!arm(fields.event, tool)) return false;
  send(fields.event);
  return true;
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
