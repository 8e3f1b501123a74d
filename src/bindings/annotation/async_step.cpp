// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/annotation/annotation_type.hpp"

#include "bindings/annotation/annotation.hpp"
#include "bindings/check/host.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

struct AsyncStep {
  PyObject_HEAD Annotation* annotation;
  bool leave;
  bool done;
};

void step_dealloc(PyObject* object) {
  Py_DECREF(reinterpret_cast<PyObject*>(reinterpret_cast<AsyncStep*>(object)->annotation));
  free_object(object);
}

// The result of the step, borrowed; null if it is done already.
PyObject* run_step(AsyncStep* step) noexcept {
  if (step->done) return nullptr;
  step->done = true;
  if (step->leave) {
    if (!with_raising_checks([&] { annotation_exit(step->annotation); })) return nullptr;
    return Py_False;
  }
  annotation_enter_suspended(step->annotation);
  return reinterpret_cast<PyObject*>(step->annotation);
}

PyObject* step_next(PyObject* object) {
  PyObject* result = run_step(reinterpret_cast<AsyncStep*>(object));
  if (result)
    PyErr_SetObject(PyExc_StopIteration, result);
  else if (!PyErr_Occurred())
    PyErr_SetString(PyExc_RuntimeError, "cannot reuse an awaited __aenter__ or __aexit__");
  return nullptr;
}

PySendResult step_send(PyObject* object, PyObject*, PyObject** result) {
  PyObject* value = run_step(reinterpret_cast<AsyncStep*>(object));
  if (!value) {
    if (!PyErr_Occurred())
      PyErr_SetString(PyExc_RuntimeError, "cannot reuse an awaited __aenter__ or __aexit__");
    *result = nullptr;
    return PYGEN_ERROR;
  }
  *result = Py_NewRef(value);
  return PYGEN_RETURN;
}

PyObject* step_send_method(PyObject* object, PyObject*) { return step_next(object); }

PyObject* step_throw(PyObject* object, PyObject* args) {
  reinterpret_cast<AsyncStep*>(object)->done = true;
  PyObject *type = nullptr, *value = nullptr, *traceback = nullptr;
  if (!PyArg_ParseTuple(args, "O|OO:throw", &type, &value, &traceback)) return nullptr;
  if (PyExceptionInstance_Check(type)) {
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(type)), type);
  } else {
    PyErr_SetObject(type, value);
  }
  return nullptr;
}

PyObject* step_close(PyObject* object, PyObject*) {
  reinterpret_cast<AsyncStep*>(object)->done = true;
  Py_RETURN_NONE;
}

PyObject* make_step(PyObject* annotation, bool leave) {
  AsyncStep* step = PyObject_New(AsyncStep, state().annotation.async_step_type);
  if (!step) return nullptr;
  step->annotation = reinterpret_cast<Annotation*>(Py_NewRef(annotation));
  step->leave = leave;
  step->done = false;
  return reinterpret_cast<PyObject*>(step);
}

}  // namespace

PyObject* annotate_aenter(PyObject* annotation, PyObject*) { return make_step(annotation, false); }

PyObject* annotate_aexit(PyObject* annotation, PyObject* const*, Py_ssize_t nargs) {
  if (nargs != 3) {
    return PyErr_Format(PyExc_TypeError, "__aexit__() takes 3 arguments (%zd given)", nargs);
  }
  return make_step(annotation, true);
}

int async_step_init() {
  static PyMethodDef methods[] = {{"send", as_method(step_send_method), METH_O, nullptr},
                                  {"throw", as_method(step_throw), METH_VARARGS, nullptr},
                                  {"close", as_method(step_close), METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  state().annotation.async_step_type = make_type(
      "nvspan._core.async_context_step", sizeof(AsyncStep), Py_TPFLAGS_DISALLOW_INSTANTIATION,
      {{Py_tp_dealloc, slot(step_dealloc)},
       {Py_am_await, slot(PyObject_SelfIter)},
       {Py_am_send, slot(step_send)},
       {Py_tp_iter, slot(PyObject_SelfIter)},
       {Py_tp_iternext, slot(step_next)},
       {Py_tp_methods, methods}});
  return state().annotation.async_step_type ? 0 : -1;
}

}  // namespace nvspan::bindings
