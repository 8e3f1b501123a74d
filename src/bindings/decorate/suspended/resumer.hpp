// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What resume.cpp and await.cpp share: the object behind a suspended call.

#include "bindings/support/py.hpp"
#include "bindings/annotation/annotation.hpp"

namespace nvspan::bindings {

struct Resumer {
  PyObject_HEAD PyObject* annotation;
  PyObject* inner;     // the original generator, coroutine or async generator
  PyObject* awaiting;  // what STEP or WAIT sends into
  PyObject* value;     // yielded or returned, until TAKE or RESULT
  PyObject* pending;   // to be sent or thrown at the next resumption; null: None
  annotate::Span span;
  bool as_span;
  bool started;
  bool throwing;  // `pending` is an exception
};

inline Resumer* as_resumer(PyObject* object) noexcept { return reinterpret_cast<Resumer*>(object); }

// Null with a TypeError set if it is something else.
Resumer* checked_resumer(PyObject* object);

inline void finish(Resumer* driver) noexcept {
  span_end(std::exchange(driver->span, annotate::Span{}));
}

// Opens the range of one resumption for the length of a scope.
class Resumption {
 public:
  explicit Resumption(Resumer* driver) noexcept : driver_(driver) {
    Py_INCREF(driver);  // what is resumed may drop the last reference to its driver
    if (driver->annotation == nullptr) return;
    if (!driver->as_span) {
      annotation_push(driver->annotation);
    } else if (!driver->started) {
      driver->span = annotation_start(driver->annotation);
    }
    driver->started = true;
  }
  ~Resumption() {
    if (driver_->annotation != nullptr && !driver_->as_span) {
      if (PyErr_Occurred() != nullptr) {
        py_error_scope error;
        annotation_pop(driver_->annotation);
      } else {
        annotation_pop(driver_->annotation);
      }
    }
    Py_DECREF(driver_);
  }
  Resumption(const Resumption&) = delete;
  Resumption& operator=(const Resumption&) = delete;

 private:
  Resumer* driver_;
};

// As PyIter_Send, for `throw` with the given arguments.
PySendResult throw_into(PyObject* target, PyObject* const* arguments, Py_ssize_t count,
                        py_ref* result);

// The exception that the current frame handles, or nothing.
py_ref handled_exception();

// The traceback of an exception without the entry that the current frame, a generated one, has put
// on top: it will put it there again.
py_ref traceback_below(PyObject* exception);

// CAUGHT(d): the exception that is being handled is to be thrown at the next resumption.
PyObject* resumer_caught(PyObject*, PyObject* driver);

// STEP(d), WAIT(d) and PASS_ON(d).
PyObject* resumer_step(PyObject*, PyObject* driver);
PyObject* resumer_wait(PyObject*, PyObject* driver);
PyObject* resumer_pass_on(PyObject*, PyObject* driver);

// The iterator that `await STEP(d)` and `await WAIT(d)` run.
PySendResult resumer_am_send(PyObject* self, PyObject* value, PyObject** answer);
PyObject* resumer_send(PyObject* self, PyObject* value);
PyObject* resumer_next(PyObject* self);
PyObject* resumer_throw(PyObject* self, PyObject* const* arguments, Py_ssize_t count);
PyObject* resumer_close(PyObject* self, PyObject*);

}  // namespace nvspan::bindings
