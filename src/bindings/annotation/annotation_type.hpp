// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The raw type `annotate`, and what annotation.cpp does for it.

#include "bindings/annotation/annotation.hpp"

namespace nvspan::bindings {

// Makes the type and adds it to the module. 0, or -1 with an exception set.
int annotation_type_add_to_module(PyObject* module);

PyObject* annotate_vectorcall(PyObject*, PyObject* const* args, size_t nargsf, PyObject* kwnames);

// Reached for subclasses only: the type itself is called through its vectorcall.
PyObject* annotate_new(PyTypeObject* type, PyObject* args, PyObject* kwargs);
int annotate_init(PyObject* object, PyObject* args, PyObject* kwargs);

// As a decorator.
PyObject* annotate_call(PyObject* object, PyObject* args, PyObject* kwargs);

int annotate_traverse(PyObject* object, visitproc visit, void* arg);
int annotate_clear(PyObject* object);
void annotate_dealloc(PyObject* object);

// A callable or an object with contents may refer back to us: only then does the collector look.
void track_if_needed(Annotation* annotation) noexcept;

}  // namespace nvspan::bindings
