// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Annotations by the arguments of the call that asks for them.
//
// A call site passes the same objects each time: the same message, keyword tuple and constants,
// only the payload differs. So the identity of the arguments finds the annotation made for them,
// checked and resolved. The cache is bounded, holds only annotations that nobody else holds, and
// never gives out one whose attributes somebody may have changed.

#include "bindings/annotation/annotation.hpp"
#include "bindings/support/call_arguments.hpp"

namespace nvspan::bindings {

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
int set_annotation(Annotation* annotation, const CallForm& form, PyObject* receiver,
                   const CallArguments& arguments);

}  // namespace nvspan::bindings
