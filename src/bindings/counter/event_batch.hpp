// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Methods of Domain around data that a program has collected itself: event batches, and the clock,
// scopes and counters that go with them.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

PyObject* domain_event_batch(PyObject* domain, PyObject* args, PyObject* kwargs);
PyObject* domain_get_scope_id(PyObject* domain, PyObject* args, PyObject* kwargs);
PyObject* domain_get_timestamp(PyObject* domain, PyObject*);
PyObject* domain_get_counter(PyObject* domain, PyObject* args, PyObject* kwargs);

}  // namespace nvspan::bindings
