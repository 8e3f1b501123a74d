// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The raw type `EventAttributes`: a kept set of attributes for Domain.mark, push_range,
// start_range.

#include "bindings/support/py.hpp"
#include "bindings/event/event_fields.hpp"
#include "bindings/support/call_arguments.hpp"
#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

struct AttributesObject {
  PyObject_HEAD EventFields fields;
  PyObject* weak_references;
};

int attributes_object_add_to_module(PyObject* module);

inline bool is_attributes(PyObject* object) noexcept {
  return Py_IS_TYPE(object, state().event.attributes_type);
}

// A new EventAttributes with the fields of `source`.
PyObject* attributes_from_fields(const EventFields& source);

// Sets the fields that `arguments` names. 0, or -1 with an exception set.
int update_attributes(AttributesObject* attributes, const CallArguments& arguments);

PyObject* domain_get_event_attributes(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                                      PyObject* kwnames);
PyObject* domain_set_event_attributes(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                                      PyObject* kwnames);

}  // namespace nvspan::bindings
