// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The raw type `annotate`, and what the other files of this folder do for it.

#include "bindings/annotation/annotation.hpp"

namespace nvspan::bindings {

// annotation_type.cpp: makes the type and adds it to the module. 0, or -1 with an exception set.
int annotation_type_add_to_module(PyObject* module);

// annotation.cpp

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

// context.cpp: `with annotate(...)`

// Gives `type` its __enter__ and __exit__. 0, or -1 with an exception set.
int add_context_descriptors(PyTypeObject* type);

void init_bound_methods(Annotation* annotation) noexcept;

// async_step.cpp: `async with annotate(...)`, whose steps are done at their first resumption

PyObject* annotate_aenter(PyObject* annotation, PyObject*);
PyObject* annotate_aexit(PyObject* annotation, PyObject* const* args, Py_ssize_t nargs);

// Makes the type of the steps. 0, or -1 with an exception set.
int async_step_init();

}  // namespace nvspan::bindings
