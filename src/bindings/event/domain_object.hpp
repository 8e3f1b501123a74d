// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The objects of the type `Domain`, and how arguments lead to them. One object for each name and
// type, for the life of the process: events refer to it without owning it. The type is in
// bindings/module/domain_type.cpp.

#include "bindings/support/py.hpp"
#include "annotate/event/domain.hpp"

namespace nvspan::bindings {

struct DomainObject {
  PyObject_HEAD annotate::Domain* core;
  PyObject* name;  // as given; None for the default domain
  PyObject* weak_references;
  PyObject* dict;  // attributes that the program has set; null: none
};

inline DomainObject* as_domain(PyObject* object) noexcept {
  return reinterpret_cast<DomainObject*>(object);
}

// Makes the domain of that name, None or an exact str, unless another thread does it first.
// Borrowed; null with an exception set.
PyObject* make_domain(PyTypeObject* type, PyObject* name);

// The domain of the same name as an object of a subclass; as make_domain.
PyObject* domain_of_type(PyTypeObject* type, PyObject* domain);

// The domain for a `domain=` argument: None, a name (str, bytes) or a Domain. Borrowed: domains are
// immortal. Null with a TypeError for anything else.
PyObject* domain_from_object(PyObject* value);

// A `level=` argument. 0, or -1 with a TypeError or ValueError.
int level_from_object(PyObject* value, uint32_t& level);

// The id of a named category. 0, or -1 with an exception set.
int category_id_of_name(DomainObject* domain, PyObject* name, annotate::CategoryIds ids,
                        uint32_t& id);

// The id for a `category=` argument other than None: a name or a number.
int category_id_from_object(DomainObject* domain, PyObject* value, uint32_t& id);

// Warns once per domain when its table of messages is full. Cheap when there is nothing to say.
inline bool overflow_pending(annotate::Domain& domain) noexcept {
  return domain.take_overflow_notice();
}
void warn_overflow(const annotate::Domain& domain) noexcept;

}  // namespace nvspan::bindings
