// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/decorate/suspended/resume.hpp"

#include "bindings/decorate/runtime/builtins.hpp"
#include "bindings/decorate/runtime/recursion.hpp"
#include "bindings/decorate/suspended/resumer.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {
namespace {

// The value of the StopIteration that is set, which it clears; null with an exception set.
py_ref stop_value() {
  const py_ref value = take_exception();
  py_ref result;
  if (value &&
      PyObject_TypeCheck(value.get(), reinterpret_cast<PyTypeObject*>(PyExc_StopIteration))) {
    PyObject* held = reinterpret_cast<PyStopIterationObject*>(value.get())->value;
    result = py_ref::borrow(held != nullptr ? held : Py_None);
  }
  if (!result) PyErr_SetString(PyExc_SystemError, "StopIteration without a value");
  return result;
}

// RESUME(d): whether the original generator yielded; False once it has returned.
PyObject* resume(PyObject*, PyObject* argument) {
  Resumer* driver = checked_resumer(argument);
  if (driver == nullptr) return nullptr;
  py_ref pending = py_ref::steal(std::exchange(driver->pending, nullptr));
  const bool throwing = std::exchange(driver->throwing, false);
  py_ref result;
  PySendResult status;
  {
    Resumption open(driver);
    if (throwing) {
      UncountedLevel uncounted;
      PyObject* exception = pending.get();
      status = throw_into(driver->inner, &exception, 1, &result);
    } else {
      UncountedResumption uncounted;
      PyObject* answer = nullptr;
      status = PyIter_Send(driver->inner, pending ? pending.get() : Py_None, &answer);
      result = py_ref::steal(answer);
    }
  }
  if (status != PYGEN_NEXT) finish(driver);
  if (status == PYGEN_ERROR) return nullptr;
  Py_XSETREF(driver->value, result.release());
  return PyBool_FromLong(status == PYGEN_NEXT);
}

// TAKE(d), RESULT(d): moves the value out.
PyObject* take(PyObject*, PyObject* argument) {
  Resumer* driver = checked_resumer(argument);
  if (driver == nullptr) return nullptr;
  if (driver->value == nullptr) Py_RETURN_NONE;
  return std::exchange(driver->value, nullptr);
}

// SENT(d, value): to be sent at the next resumption.
PyObject* sent(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  Resumer* driver = count == 2 ? checked_resumer(arguments[0]) : nullptr;
  if (driver == nullptr) return nullptr;
  if (arguments[1] != Py_None) {
    Py_INCREF(arguments[1]);
    Py_XSETREF(driver->pending, arguments[1]);
  }
  Py_RETURN_NONE;
}

PyObject* resumer_self(PyObject* self) { return Py_NewRef(self); }

int resumer_traverse(PyObject* self, visitproc visit, void* arg) {
  Resumer* driver = as_resumer(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(driver->annotation);
  Py_VISIT(driver->inner);
  Py_VISIT(driver->awaiting);
  Py_VISIT(driver->value);
  Py_VISIT(driver->pending);
  return 0;
}

int resumer_clear(PyObject* self) {
  Resumer* driver = as_resumer(self);
  Py_CLEAR(driver->inner);
  Py_CLEAR(driver->awaiting);
  Py_CLEAR(driver->value);
  Py_CLEAR(driver->pending);
  return 0;
}

void resumer_dealloc(PyObject* self) {
  Resumer* driver = as_resumer(self);
  PyObject_GC_UnTrack(self);
  resumer_clear(self);
  finish(driver);
  Py_CLEAR(driver->annotation);
  free_object(self);
}

PyMethodDef resumer_methods[] = {
    {"send", resumer_send, METH_O, nullptr},
    {"throw", as_method(resumer_throw), METH_FASTCALL, nullptr},
    {"close", resumer_close, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyMethodDef resume_functions[] = {
    {"__nvspan_resume__", resume, METH_O, nullptr},
    {"__nvspan_take__", take, METH_O, nullptr},
    {"__nvspan_sent__", as_method(sent), METH_FASTCALL, nullptr},
    {"__nvspan_caught__", resumer_caught, METH_O, nullptr},
    {"__nvspan_step__", resumer_step, METH_O, nullptr},
    {"__nvspan_wait__", resumer_wait, METH_O, nullptr},
    {"__nvspan_pass_on__", resumer_pass_on, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

Resumer* checked_resumer(PyObject* object) {
  if (Py_IS_TYPE(object, state().decorate.resumer_type)) return as_resumer(object);
  PyErr_SetString(PyExc_TypeError, "expected the driver of a decorated generator");
  return nullptr;
}

PySendResult throw_into(PyObject* target, PyObject* const* arguments, Py_ssize_t count,
                        py_ref* result) {
  py_ref method = py_ref::steal(PyObject_GetAttrString(target, "throw"));
  if (!method) return PYGEN_ERROR;
  UncountedLevel uncounted;
  *result = py_ref::steal(
      PyObject_Vectorcall(method.get(), arguments, static_cast<size_t>(count), nullptr));
  if (*result) return PYGEN_NEXT;
  if (!PyErr_ExceptionMatches(PyExc_StopIteration)) return PYGEN_ERROR;
  *result = stop_value();
  return *result ? PYGEN_RETURN : PYGEN_ERROR;
}

py_ref handled_exception() {
#if PY_VERSION_HEX >= 0x030B0000
  return py_ref::steal(PyErr_GetHandledException());
#else
  PyObject *type, *value, *traceback;
  PyErr_GetExcInfo(&type, &value, &traceback);
  Py_XDECREF(type);
  Py_XDECREF(traceback);
  return py_ref::steal(value);
#endif
}

py_ref traceback_below(PyObject* exception) {
  py_ref traceback = py_ref::steal(PyException_GetTraceback(exception));
  if (!traceback) return traceback;
  auto* top = reinterpret_cast<PyTracebackObject*>(traceback.get());
  if (top->tb_frame != PyEval_GetFrame()) return traceback;
  return py_ref::borrow(reinterpret_cast<PyObject*>(top->tb_next));
}

PyObject* resumer_caught(PyObject*, PyObject* argument) {
  Resumer* driver = checked_resumer(argument);
  if (driver == nullptr) return nullptr;
  py_ref exception = handled_exception();
  if (!exception || exception.get() == Py_None) {
    PyErr_SetString(PyExc_RuntimeError, "no exception is being handled");
    return nullptr;
  }
  py_ref traceback = traceback_below(exception.get());
  PyException_SetTraceback(exception.get(), traceback ? traceback.get() : Py_None);
  Py_XSETREF(driver->pending, exception.release());
  driver->throwing = true;
  Py_RETURN_NONE;
}

PyObject* resumer_new(PyObject* annotation, PyObject* inner, bool as_span) {
  Resumer* driver =
      as_resumer(state().decorate.resumer_type->tp_alloc(state().decorate.resumer_type, 0));
  if (driver == nullptr) return nullptr;
  driver->annotation = py_ref::borrow(annotation).release();
  driver->inner = py_ref::borrow(inner).release();
  driver->span = annotate::Span{};
  driver->as_span = as_span;
  return reinterpret_cast<PyObject*>(driver);
}

int decorated_resume_init() {
  state().decorate.resumer_type = make_type("nvspan._core._Resumer", sizeof(Resumer),
                                            Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                            {{Py_am_await, slot(resumer_self)},
                                             {Py_am_send, slot(resumer_am_send)},
                                             {Py_tp_iter, slot(resumer_self)},
                                             {Py_tp_iternext, slot(resumer_next)},
                                             {Py_tp_methods, resumer_methods},
                                             {Py_tp_traverse, slot(resumer_traverse)},
                                             {Py_tp_clear, slot(resumer_clear)},
                                             {Py_tp_dealloc, slot(resumer_dealloc)}});
  return state().decorate.resumer_type ? add_builtins(resume_functions) : -1;
}

}  // namespace nvspan::bindings
