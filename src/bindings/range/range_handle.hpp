// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What start_range returns and end_range takes: opaque, unpacks as (range_id, domain).

#include "bindings/support/py.hpp"
#include "annotate/event/event.hpp"

namespace nvspan::bindings {

int range_handle_add_to_module(PyObject* module);

// A handle for `span`, which may be empty. `domain` is a Domain object.
PyObject* range_handle_new(const annotate::Span& span, PyObject* domain);

// Ends the range of that id, if it may be one of the tool that is attached. 0, or -1 with the
// exception of a strict check.
int end_range_by_id(const annotate::Domain& domain, uint64_t id);

// Ends what a handle, or a tuple made from one, stands for; a second time does nothing. None and
// handles of other attachments are ignored. 0, or -1 with a TypeError.
int end_range_handle(PyObject* handle);

}  // namespace nvspan::bindings
