// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What the generated code of one decorated function is bound to
// (python/nvspan/_decorate/codegen.py).
//
// The code names its Site by eight bytes, its key, and owns it as a constant. The garbage collector
// does not look into code objects, so no constant of theirs may own anything that leads back to the
// function: a Site holds both functions by weak references. `__wrapped__` of the decorated function
// owns the original; where a user has overwritten it, each call makes an equal function from the
// original code and the decorated function's globals and closure.

#include <cstdint>

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

// clang-format off
struct Site {
  PyObject_HEAD
  PyObject* annotation;       // owned, or null
  PyObject* weak_annotation;  // used when `annotation` is null: it lives in the function's __dict__
  PyObject* original_code;    // what the decorated function runs while nothing listens
  PyObject* function;         // weak reference to the decorated function; null in an unpickled copy
  PyObject* wrapped;          // weak reference to the original; null: make one at each call
  int64_t key;
  bool copied;                // a function that was serialised by value runs code with this key, too
};
// clang-format on

// Adds the type to the module, and the functions that take a key to the builtins. 0, or -1 with an
// exception set.
int decorated_site_add_to_module(PyObject* module);

// A new Site, or null with an exception set. `function` and `wrapped` may be null.
Site* site_new(PyObject* annotation, PyObject* original_code, PyObject* function,
               PyObject* wrapped);

// Whether `code` was generated for `site`, or made from such code.
bool code_calls_site(PyObject* code, const Site* site) noexcept;

// The object of a weak reference, or nothing. `reference` may be null.
inline py_ref weak_target(PyObject* reference) noexcept {
  if (reference == nullptr) return {};
#if defined(Py_GIL_DISABLED)
  PyObject* target = nullptr;
  PyWeakref_GetRef(reference, &target);
  return py_ref::steal(target);
#else
  // PyWeakref_GetRef is a call, and PyWeakref_GET_OBJECT deprecated: this is what both do.
  PyObject* target = reinterpret_cast<PyWeakReference*>(reference)->wr_object;
  if (target == Py_None || Py_REFCNT(target) <= 0) return {};
  return py_ref::borrow(target);
#endif
}

// The annotation, or nothing if its owner is gone.
inline py_ref site_annotation(const Site* site) noexcept {
  if (site->annotation != nullptr) return py_ref::borrow(site->annotation);
  return weak_target(site->weak_annotation);
}

}  // namespace nvspan::bindings
