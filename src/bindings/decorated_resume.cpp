// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/decorated_resume.hpp"

#include <new>

#include "bindings/annotate_object.hpp"

namespace nvspan {
namespace {

PyTypeObject* open_span_type = nullptr;  // one for the process, as ModuleState
PyTypeObject* resumer_type = nullptr;

// ---- OpenSpan: the start/end range of one call --------------------------------------------------

struct OpenSpan {
  PyObject_HEAD
  Span span;
};

void open_span_end(PyObject* self) noexcept {
  auto* open = reinterpret_cast<OpenSpan*>(self);
  span_end(std::exchange(open->span, Span{}));
}

void open_span_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  open_span_end(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyType_Slot open_span_slots[] = {
    {Py_tp_dealloc, reinterpret_cast<void*>(open_span_dealloc)},
    {0, nullptr},
};

PyType_Spec open_span_spec = {"nvspan._core._OpenSpan", sizeof(OpenSpan), 0,
                              Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                              open_span_slots};

// END(token): token is what START answered, or None if it never ran.
PyObject* end_span(PyObject*, PyObject* token) {
  if (Py_IS_TYPE(token, open_span_type)) open_span_end(token);
  Py_RETURN_NONE;
}

// ---- Resumer ------------------------------------------------------------------------------------

struct Resumer {
  PyObject_HEAD
  PyObject* annotation;
  PyObject* inner;     // the original generator, coroutine or async generator
  PyObject* awaiting;  // what STEP or DRIVE sends into
  PyObject* value;     // yielded or returned, until TAKE or RESULT
  PyObject* pending;   // to be sent or thrown at the next resumption; null: None
  Span span;
  bool as_span;
  bool started;
  bool throwing;  // `pending` is an exception
  bool finished;
};

Resumer* as_resumer(PyObject* object) noexcept { return reinterpret_cast<Resumer*>(object); }

Resumer* checked_resumer(PyObject* object) {
  if (Py_IS_TYPE(object, resumer_type)) return as_resumer(object);
  PyErr_SetString(PyExc_TypeError, "not what drives a decorated generator");
  return nullptr;
}

void finish(Resumer* driver) noexcept {
  driver->finished = true;
  span_end(std::exchange(driver->span, Span{}));
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

// The value of the StopIteration that is set, which it clears; null with an exception set.
py_ref stop_value() {
  PyObject *type, *value, *traceback;
  PyErr_Fetch(&type, &value, &traceback);
  PyErr_NormalizeException(&type, &value, &traceback);
  py_ref result;
  if (value != nullptr && PyObject_TypeCheck(value, reinterpret_cast<PyTypeObject*>(PyExc_StopIteration))) {
    PyObject* held = reinterpret_cast<PyStopIterationObject*>(value)->value;
    result = py_ref::borrow(held != nullptr ? held : Py_None);
  }
  Py_XDECREF(type);
  Py_XDECREF(value);
  Py_XDECREF(traceback);
  if (!result) PyErr_SetString(PyExc_SystemError, "StopIteration without a value");
  return result;
}

void set_stop(PyObject* value) {
  // Built by hand: PyErr_SetObject would spread a tuple over the arguments.
  py_ref stop = py_ref::steal(PyObject_CallOneArg(PyExc_StopIteration, value));
  if (stop) PyErr_SetObject(PyExc_StopIteration, stop.get());
}

// As PyIter_Send, for `throw` with the given arguments.
PySendResult throw_into(PyObject* target, PyObject* const* arguments, Py_ssize_t count,
                        py_ref* result) {
  py_ref method = py_ref::steal(PyObject_GetAttrString(target, "throw"));
  if (!method) return PYGEN_ERROR;
  *result = py_ref::steal(
      PyObject_Vectorcall(method.get(), arguments, static_cast<size_t>(count), nullptr));
  if (*result) return PYGEN_NEXT;
  if (!PyErr_ExceptionMatches(PyExc_StopIteration)) return PYGEN_ERROR;
  *result = stop_value();
  return *result ? PYGEN_RETURN : PYGEN_ERROR;
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
      PyObject* exception = pending.get();
      status = throw_into(driver->inner, &exception, 1, &result);
    } else {
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

// The exception that the current frame handles.
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

// CAUGHT(d): the exception that is being handled is to be thrown at the next resumption. The entry
// that the generated frame put into its traceback goes, or each hop would add one.
PyObject* caught(PyObject*, PyObject* argument) {
  Resumer* driver = checked_resumer(argument);
  if (driver == nullptr) return nullptr;
  py_ref exception = handled_exception();
  if (!exception || exception.get() == Py_None) {
    PyErr_SetString(PyExc_RuntimeError, "no exception is being handled");
    return nullptr;
  }
  py_ref traceback = py_ref::steal(PyException_GetTraceback(exception.get()));
  if (traceback) {
    auto* top = reinterpret_cast<PyTracebackObject*>(traceback.get());
    if (top->tb_frame == PyEval_GetFrame()) {
      PyObject* rest = top->tb_next != nullptr ? reinterpret_cast<PyObject*>(top->tb_next) : Py_None;
      PyException_SetTraceback(exception.get(), rest);
    }
  }
  Py_XSETREF(driver->pending, exception.release());
  driver->throwing = true;
  Py_RETURN_NONE;
}

// ---- awaiting: STEP (async generator) and DRIVE (coroutine) -------------------------------------

// The event loop must know of the decorated async generator only: with the original in its list too,
// closing both at once fails. The hooks are read when the first awaitable is made.
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

// STEP(d): an awaitable for whether the original async generator yielded. After PASS_ON it is the one
// that was interrupted.
PyObject* step(PyObject*, PyObject* argument) {
  Resumer* driver = checked_resumer(argument);
  if (driver == nullptr) return nullptr;
  if (driver->awaiting != nullptr) return Py_NewRef(argument);
  py_ref pending = py_ref::steal(std::exchange(driver->pending, nullptr));
  const bool throwing = std::exchange(driver->throwing, false);
  py_ref name = py_ref::steal(PyUnicode_InternFromString(throwing ? "athrow" : "asend"));
  if (!name) return nullptr;
  HiddenFromHooks hidden;
  PyObject* awaitable = PyObject_CallMethodOneArg(driver->inner, name.get(),
                                                  pending ? pending.get() : Py_None);
  if (awaitable == nullptr) return nullptr;
  Py_XSETREF(driver->awaiting, awaitable);
  return Py_NewRef(argument);
}

// DRIVE(d): an awaitable for what the original coroutine returns.
PyObject* drive(PyObject*, PyObject* argument) {
  Resumer* driver = checked_resumer(argument);
  if (driver == nullptr) return nullptr;
  Py_XSETREF(driver->awaiting, Py_NewRef(driver->inner));
  return Py_NewRef(argument);
}

// PASS_ON(d), while a GeneratorExit is handled: if it was thrown in where the original was suspended,
// it is thrown into the original next; if it came out of the original, it is raised again.
PyObject* pass_on(PyObject* self, PyObject* argument) {
  Resumer* driver = checked_resumer(argument);
  if (driver == nullptr) return nullptr;
  if (driver->awaiting != nullptr) return caught(self, argument);
  py_ref exception = handled_exception();
  if (!exception) return nullptr;
  PyErr_Restore(Py_NewRef(Py_TYPE(exception.get())), exception.get(),
                PyException_GetTraceback(exception.get()));
  exception.release();
  return nullptr;
}

// Turns the end of what was awaited into the result of `await STEP(d)` or `await DRIVE(d)`.
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

PyObject* as_iterator_result(PySendResult status, PyObject* answer) {
  if (status != PYGEN_RETURN) return answer;
  py_ref value = py_ref::steal(answer);
  set_stop(value.get());
  return nullptr;
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
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  resumer_clear(self);
  finish(driver);
  Py_CLEAR(driver->annotation);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef resumer_methods[] = {
    {"send", resumer_send, METH_O, nullptr},
    {"throw", as_method(resumer_throw), METH_FASTCALL, nullptr},
    {"close", resumer_close, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot resumer_slots[] = {
    {Py_am_await, reinterpret_cast<void*>(resumer_self)},
    {Py_am_send, reinterpret_cast<void*>(resumer_am_send)},
    {Py_tp_iter, reinterpret_cast<void*>(resumer_self)},
    {Py_tp_iternext, reinterpret_cast<void*>(resumer_next)},
    {Py_tp_methods, resumer_methods},
    {Py_tp_traverse, reinterpret_cast<void*>(resumer_traverse)},
    {Py_tp_clear, reinterpret_cast<void*>(resumer_clear)},
    {Py_tp_dealloc, reinterpret_cast<void*>(resumer_dealloc)},
    {0, nullptr},
};

PyType_Spec resumer_spec = {
    "nvspan._core._Resumer", sizeof(Resumer), 0,
    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, resumer_slots};

PyMethodDef functions[] = {
    {"_resume", resume, METH_O, nullptr},
    {"_take", take, METH_O, nullptr},
    {"_sent", as_method(sent), METH_FASTCALL, nullptr},
    {"_caught", caught, METH_O, nullptr},
    {"_step", step, METH_O, nullptr},
    {"_drive", drive, METH_O, nullptr},
    {"_pass_on", pass_on, METH_O, nullptr},
    {"_end_span", end_span, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

PyObject* open_span_new(PyObject* annotation) {
  auto* open = reinterpret_cast<OpenSpan*>(open_span_type->tp_alloc(open_span_type, 0));
  if (open == nullptr) return nullptr;
  open->span = annotation != nullptr ? annotation_start(annotation) : Span{};
  return reinterpret_cast<PyObject*>(open);
}

PyObject* resumer_new(PyObject* annotation, PyObject* inner, bool as_span) {
  Resumer* driver = as_resumer(resumer_type->tp_alloc(resumer_type, 0));
  if (driver == nullptr) return nullptr;
  driver->annotation = py_ref::borrow(annotation).release();
  driver->inner = py_ref::borrow(inner).release();
  driver->span = Span{};
  driver->as_span = as_span;
  return reinterpret_cast<PyObject*>(driver);
}

int decorated_resume_add_to_module(PyObject* module) {
  open_span_type = reinterpret_cast<PyTypeObject*>(
      PyType_FromModuleAndSpec(module, &open_span_spec, nullptr));
  resumer_type =
      reinterpret_cast<PyTypeObject*>(PyType_FromModuleAndSpec(module, &resumer_spec, nullptr));
  if (open_span_type == nullptr || resumer_type == nullptr) return -1;
  return PyModule_AddFunctions(module, functions);
}

}  // namespace nvspan
