// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The awaitables of generated bodies: STEP for async generators, WAIT for coroutines.
#include "bindings/decorate/suspended/resumer.hpp"

namespace nvspan::bindings {
namespace {

// The event loop must know of the decorated async generator only: with the original in its list
// too, closing both at once fails. The hooks are read when the first awaitable is made.
class HiddenFromHooks {
 public:
  HiddenFromHooks() noexcept
      : thread_(PyThreadState_Get()),
        first_(std::exchange(thread_->async_gen_firstiter, nullptr)),
        finalizer_(std::exchange(thread_->async_gen_finalizer, nullptr)) {}
  ~HiddenFromHooks() {
    thread_->async_gen_firstiter = first_;
    thread_->async_gen_finalizer = finalizer_;
  }
  HiddenFromHooks(const HiddenFromHooks&) = delete;
  HiddenFromHooks& operator=(const HiddenFromHooks&) = delete;

 private:
  PyThreadState* thread_;
  PyObject* first_;
  PyObject* finalizer_;
};

// Turns the end of what was awaited into the result of `await STEP(d)` or `await WAIT(d)`.
PySendResult settle(Resumer* driver, PySendResult status, py_ref result, PyObject** answer) {
  *answer = nullptr;
  if (status == PYGEN_NEXT) {
    *answer = result.release();
    return status;
  }
  Py_CLEAR(driver->awaiting);
  if (!PyAsyncGen_CheckExact(driver->inner)) {
    finish(driver);
    *answer = result.release();
    return status;
  }
  if (status == PYGEN_RETURN) {
    Py_XSETREF(driver->value, result.release());
    *answer = Py_NewRef(Py_True);
    return PYGEN_RETURN;
  }
  finish(driver);
  if (!PyErr_ExceptionMatches(PyExc_StopAsyncIteration)) return PYGEN_ERROR;
  PyErr_Clear();
  *answer = Py_NewRef(Py_False);
  return PYGEN_RETURN;
}

void set_stop(PyObject* value) {
  // Built by hand: PyErr_SetObject would spread a tuple over the arguments.
  py_ref stop = py_ref::steal(PyObject_CallOneArg(PyExc_StopIteration, value));
  if (stop) PyErr_SetObject(PyExc_StopIteration, stop.get());
}

PyObject* as_iterator_result(PySendResult status, PyObject* answer) {
  if (status != PYGEN_RETURN) return answer;
  py_ref value = py_ref::steal(answer);
  set_stop(value.get());
  return nullptr;
}

}  // namespace

// STEP(d): an awaitable for whether the original async generator yielded. After PASS_ON it is the
// one that was interrupted.
PyObject* resumer_step(PyObject*, PyObject* argument) {
  Resumer* driver = checked_resumer(argument);
  if (driver == nullptr) return nullptr;
  if (driver->awaiting != nullptr) return Py_NewRef(argument);
  py_ref pending = py_ref::steal(std::exchange(driver->pending, nullptr));
  const bool throwing = std::exchange(driver->throwing, false);
  py_ref name = py_ref::steal(PyUnicode_InternFromString(throwing ? "athrow" : "asend"));
  if (!name) return nullptr;
  HiddenFromHooks hidden;
  PyObject* awaitable =
      PyObject_CallMethodOneArg(driver->inner, name.get(), pending ? pending.get() : Py_None);
  if (awaitable == nullptr) return nullptr;
  Py_XSETREF(driver->awaiting, awaitable);
  return Py_NewRef(argument);
}

// WAIT(d): an awaitable for what the original coroutine returns.
PyObject* resumer_wait(PyObject*, PyObject* argument) {
  Resumer* driver = checked_resumer(argument);
  if (driver == nullptr) return nullptr;
  Py_XSETREF(driver->awaiting, Py_NewRef(driver->inner));
  return Py_NewRef(argument);
}

// PASS_ON(d), while an exception is handled: a GeneratorExit that was thrown in where the original
// was suspended is thrown into the original next; what came out of the original is raised again.
PyObject* resumer_pass_on(PyObject* self, PyObject* argument) {
  Resumer* driver = checked_resumer(argument);
  if (driver == nullptr) return nullptr;
  py_ref exception = handled_exception();
  if (!exception) return nullptr;
  PyObject* type = reinterpret_cast<PyObject*>(Py_TYPE(exception.get()));
  if (driver->awaiting != nullptr && PyErr_GivenExceptionMatches(type, PyExc_GeneratorExit)) {
    return resumer_caught(self, argument);
  }
  py_ref traceback = traceback_below(exception.get());
  PyErr_Restore(Py_NewRef(type), exception.release(), traceback.release());
  return nullptr;
}

PySendResult resumer_am_send(PyObject* self, PyObject* value, PyObject** answer) {
  Resumer* driver = as_resumer(self);
  *answer = nullptr;
  py_ref target = py_ref::borrow(driver->awaiting);
  if (!target) {
    PyErr_SetString(PyExc_RuntimeError, "nothing is awaited here");
    return PYGEN_ERROR;
  }
  py_ref result;
  PySendResult status;
  if (std::exchange(driver->throwing, false)) {
    py_ref exception = py_ref::steal(std::exchange(driver->pending, nullptr));
    PyObject* argument = exception.get();
    Resumption open(driver);
    status = throw_into(target.get(), &argument, 1, &result);
  } else {
    PyObject* sent_back = nullptr;
    Resumption open(driver);
    status = PyIter_Send(target.get(), value, &sent_back);
    result = py_ref::steal(sent_back);
  }
  return settle(driver, status, std::move(result), answer);
}

PyObject* resumer_send(PyObject* self, PyObject* value) {
  PyObject* answer = nullptr;
  const PySendResult status = resumer_am_send(self, value, &answer);
  return as_iterator_result(status, answer);
}

PyObject* resumer_next(PyObject* self) { return resumer_send(self, Py_None); }

PyObject* resumer_throw(PyObject* self, PyObject* const* arguments, Py_ssize_t count) {
  Resumer* driver = as_resumer(self);
  py_ref target = py_ref::borrow(driver->awaiting);
  if (!target) {
    PyErr_SetString(PyExc_RuntimeError, "nothing is awaited here");
    return nullptr;
  }
  py_ref result;
  PySendResult status;
  {
    Resumption open(driver);
    status = throw_into(target.get(), arguments, count, &result);
  }
  PyObject* answer = nullptr;
  status = settle(driver, status, std::move(result), &answer);
  return as_iterator_result(status, answer);
}

// The interpreter calls it before it throws GeneratorExit into the generated body, which hands that
// on to the original: nothing is to be done here.
PyObject* resumer_close(PyObject*, PyObject*) { Py_RETURN_NONE; }

}  // namespace nvspan::bindings
