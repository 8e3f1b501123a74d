// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Annotations by the arguments of the call that asks for them.
//
// A call site passes the same objects each time: the same message, keyword tuple and constants,
// only the payload differs. So the identity of the arguments finds the annotation made for them,
// checked and resolved. The cache is bounded, holds only annotations that nobody else holds, and
// never gives out one whose attributes somebody may have changed.

#include <cstdint>

#include "bindings/annotation/annotation.hpp"
#include "bindings/support/call_arguments.hpp"

namespace nvspan::bindings {

#ifdef Py_GIL_DISABLED

// Without a GIL "nobody else holds it" cannot be read off a reference count.
inline Annotation* known_message(const CallForm&, PyObject*, PyObject* const*, Py_ssize_t,
                                 PyObject*) noexcept {
  return nullptr;
}

#else

namespace detail {

constexpr size_t cache_size = 1024;  // a power of two

// All references are strong, so that an address in an entry is that of the same object.
struct CachedCall {
  const CallForm* form;
  PyObject* receiver;
  PyObject* message;  // borrowed from values, of a call with a message alone; null: another call
  Annotation* annotation;
  PyObject* kwnames;
  PyObject* values[field_count];
  int8_t nargs;
  int8_t count;
  int8_t payload;  // its index in values, or -1; not compared
};

extern CachedCall cached_calls[cache_size];  // zero is empty; under the GIL

inline uintptr_t hash_call(const CallForm& form, PyObject* receiver, PyObject* first,
                           PyObject* kwnames) noexcept {
  const auto bits = [](const void* pointer) { return reinterpret_cast<uintptr_t>(pointer); };
  return (bits(first) >> 4) ^ (bits(kwnames) >> 5) ^ (bits(receiver) >> 3) ^ (bits(&form) >> 2);
}

inline size_t slot_of(uintptr_t hash) noexcept { return (hash ^ (hash >> 10)) & (cache_size - 1); }

}  // namespace detail

// The annotation of the commonest call, a message alone, if it is cached. Borrowed, and only until
// Python code runs. Null without an exception.
inline Annotation* known_message(const CallForm& form, PyObject* receiver, PyObject* const* args,
                                 Py_ssize_t nargs, PyObject* kwnames) noexcept {
  if (nargs != 1 || kwnames) return nullptr;
  PyObject* const message = args[0];
  const detail::CachedCall& entry =
      detail::cached_calls[detail::slot_of(detail::hash_call(form, receiver, message, nullptr))];
  if (entry.message != message || entry.form != &form || entry.receiver != receiver) return nullptr;
  return entry.annotation->shareable ? entry.annotation : nullptr;
}

#endif

// The annotation for a call, from the cache if it is there. `receiver` is the Domain whose method
// is called, or null. With `exclusive` nobody else holds the result, so it may be given to the
// user. Null without an exception: not cached, parse the arguments. Null with one: bad payload.
Annotation* cached_annotation(const CallForm& form, PyObject* receiver, PyObject* const* args,
                              Py_ssize_t nargs, PyObject* kwnames, bool exclusive);

// The annotation for a call: cached_annotation, else made, and remembered if it may be.
// A new reference, or null with an exception set.
Annotation* annotation_for_call(const CallForm& form, PyObject* receiver, PyObject* const* args,
                                Py_ssize_t nargs, PyObject* kwnames, bool exclusive);

// Takes an annotation out of the cache, which would keep alive what the program hangs on it.
void forget_annotation(const Annotation* annotation) noexcept;

// Sets an annotation's fields from parsed arguments. 0, or -1 with an exception set.
int set_annotation(Annotation* annotation, PyObject* receiver, const CallArguments& arguments);

}  // namespace nvspan::bindings
