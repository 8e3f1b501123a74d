// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Entering and leaving an annotation.
#include "bindings/annotate_context.hpp"

#include <cstddef>

#include "annotate/open_ranges.hpp"
#include "bindings/annotate_device.hpp"
#include "bindings/check_host.hpp"
#include "bindings/domain_object.hpp"
#include "bindings/entering_frame.hpp"
#include "bindings/module_state.hpp"
#include "bindings/ranges.hpp"

namespace nvspan {

namespace {

Annotation* as_annotation(PyObject* object) noexcept {
  return reinterpret_cast<Annotation*>(object);
}

void start_on(Annotation* annotation, const void* frame, const ToolTable& tool) noexcept {
  const Span span = send_start_of(*annotation->fields, tool, annotation->failed_lazily);
  if (span.epoch == 0) return;
  if (!annotation->spans) annotation->spans = new OpenSpans;
  annotation->spans->add(frame, PyThread_get_thread_ident(), {span});
}

void push_on(Annotation* annotation, const ToolTable& tool) noexcept {
  EventFields& fields = *annotation->fields;
  const uint64_t epoch = send_push_of(annotation, fields, tool, annotation->failed_lazily);
  if (epoch != 0) note_push(annotation, fields.event.domain, epoch);
}

void notice_overflow(const Annotation* annotation) noexcept {
  Domain* domain = annotation->fields->event.domain;
  if (overflow_pending(*domain)) warn_overflow(*domain);
}

void enter_as(Annotation* annotation, RangeKind kind, const ToolTable& tool) noexcept {
  if (annotation->device) {
    enter_with_device(annotation, kind, tool);
  } else if (kind == RangeKind::nested) {
    push_on(annotation, tool);
  } else {
    const EnteringFrame frame = entering_frame();
    if (kind == RangeKind::span || frame.suspends) {
      start_on(annotation, frame.key, tool);
    } else {
      push_on(annotation, tool);
    }
  }
  notice_overflow(annotation);
}

void close(Annotation* annotation, const OpenEntry& open) noexcept {
  if (annotation->device) {
    close_with_device(annotation, open);
  } else {
    end_span(open.span);
  }
}

// Ends the span that this exit belongs to, if the object has one open.
bool leave_span(Annotation* annotation) noexcept {
  constexpr int deepest = 6;  // contextlib puts up to four frames of its own in between
  const void* frames[deepest];
  const int count = calling_frames(frames, deepest);
  OpenEntry open;
  for (int i = 0; i < count; ++i) {
    if (annotation->spans->take_of_frame(frames[i], open)) {
      close(annotation, open);
      return true;
    }
  }
  if (!annotation->device && has_open_range(annotation)) return false;
  if (annotation->spans->take_newest(PyThread_get_thread_ident(), false, open) ||
      annotation->spans->take_newest(0, true, open)) {
    close(annotation, open);
    return true;
  }
  return false;
}

}  // namespace

void annotation_enter(Annotation* annotation) noexcept {
  if (const ToolTable* tool = listening_tool()) enter_as(annotation, annotation->kind, *tool);
}

void annotation_exit(Annotation* annotation) noexcept {
  if (annotation->spans && !annotation->spans->empty() && leave_span(annotation)) return;
  pop_owned(annotation);
}

void annotation_push(PyObject* annotation) noexcept {
  const ToolTable* tool = listening_tool();
  if (!tool) return;
  push_on(as_annotation(annotation), *tool);
  notice_overflow(as_annotation(annotation));
}

bool annotation_wanted(PyObject* annotation) noexcept {
  const Event& event = as_annotation(annotation)->fields->event;
  return event.domain->enabled() && event.level <= event.domain->level();
}

void annotation_pop(PyObject* annotation) noexcept { pop_owned(annotation); }

Span annotation_start(PyObject* annotation) noexcept {
  const ToolTable* tool = listening_tool();
  if (!tool) return {};
  Annotation* self = as_annotation(annotation);
  const Span span = send_start_of(*self->fields, *tool, self->failed_lazily);
  notice_overflow(self);
  return span;
}

void span_end(Span span) noexcept { end_span(span); }
bool listening() noexcept { return listening_tool() != nullptr; }
bool decided() noexcept { return tool_decided(); }

namespace {

bool is_annotation(PyObject* object) noexcept {
  return PyObject_TypeCheck(object, state().annotate_type);
}

// What a descriptor does with an annotation, given the arguments after it.
PyObject* call_enter(Annotation* annotation, Py_ssize_t arguments) {
  if (arguments != 0) {
    return PyErr_Format(PyExc_TypeError, "__enter__() takes no arguments (%zd given)", arguments);
  }
  annotation_enter(annotation);
  return Py_NewRef(reinterpret_cast<PyObject*>(annotation));
}

PyObject* call_exit(Annotation* annotation, Py_ssize_t arguments) {
  if (arguments != 3) {
    return PyErr_Format(PyExc_TypeError, "__exit__() takes 3 arguments (%zd given)", arguments);
  }
  if (checking()) {
    if (!with_raising_checks([&] { annotation_exit(annotation); })) return nullptr;
  } else {
    annotation_exit(annotation);
  }
  Py_RETURN_FALSE;
}

struct EnterTraits {
  using Owner = Annotation;
  static constexpr const char* type = "annotate";
  static constexpr const char* object = "an annotate";
  static constexpr const char* name = "__enter__";
  static constexpr size_t offset = offsetof(Annotation, enter);
  static bool is_owner(PyObject* object) { return is_annotation(object); }
  static PyObject* call(Annotation* annotation, Py_ssize_t arguments) {
    return call_enter(annotation, arguments);
  }
};

struct ExitTraits {
  using Owner = Annotation;
  static constexpr const char* type = "annotate";
  static constexpr const char* object = "an annotate";
  static constexpr const char* name = "__exit__";
  static constexpr size_t offset = offsetof(Annotation, exit);
  static bool is_owner(PyObject* object) { return is_annotation(object); }
  static PyObject* call(Annotation* annotation, Py_ssize_t arguments) {
    return call_exit(annotation, arguments);
  }
};

// What `__aenter__` and `__aexit__` return: done at the first resumption.
struct AsyncStep {
  PyObject_HEAD Annotation* annotation;
  bool leave;
  bool done;
};

PyTypeObject* async_step_type;

void step_dealloc(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  Py_DECREF(reinterpret_cast<PyObject*>(reinterpret_cast<AsyncStep*>(object)->annotation));
  PyObject_Free(object);
  Py_DECREF(type);
}

// The result of the step, borrowed; null if it is done already.
PyObject* run_step(AsyncStep* step) noexcept {
  if (step->done) return nullptr;
  step->done = true;
  if (step->leave) {
    if (!with_raising_checks([&] { annotation_exit(step->annotation); })) return nullptr;
    return Py_False;
  }
  if (const ToolTable* tool = listening_tool()) {
    const RangeKind kind = step->annotation->kind;
    enter_as(step->annotation, kind == RangeKind::nested ? kind : RangeKind::span, *tool);
  }
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
  AsyncStep* step = PyObject_New(AsyncStep, async_step_type);
  if (!step) return nullptr;
  step->annotation = as_annotation(Py_NewRef(annotation));
  step->leave = leave;
  step->done = false;
  return reinterpret_cast<PyObject*>(step);
}

int make_step_type() {
  static PyMethodDef methods[] = {{"send", as_method(step_send_method), METH_O, nullptr},
                                  {"throw", as_method(step_throw), METH_VARARGS, nullptr},
                                  {"close", as_method(step_close), METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(step_dealloc)},
                                {Py_am_await, reinterpret_cast<void*>(PyObject_SelfIter)},
                                {Py_am_send, reinterpret_cast<void*>(step_send)},
                                {Py_tp_iter, reinterpret_cast<void*>(PyObject_SelfIter)},
                                {Py_tp_iternext, reinterpret_cast<void*>(step_next)},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  static PyType_Spec spec = {"nvspan._core.async_context_step", sizeof(AsyncStep), 0,
                             Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};
  async_step_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return async_step_type ? 0 : -1;
}

}  // namespace

PyObject* annotate_aenter(PyObject* annotation, PyObject*) { return make_step(annotation, false); }

PyObject* annotate_aexit(PyObject* annotation, PyObject* const*, Py_ssize_t nargs) {
  if (nargs != 3) {
    return PyErr_Format(PyExc_TypeError, "__aexit__() takes 3 arguments (%zd given)", nargs);
  }
  return make_step(annotation, true);
}

int add_context_descriptors(PyTypeObject* type) {
  if (ContextMethod<EnterTraits>::add_to(type) < 0 || ContextMethod<ExitTraits>::add_to(type) < 0)
    return -1;
  return make_step_type();
}

void init_bound_methods(Annotation* annotation) noexcept {
  ContextMethod<EnterTraits>::init_bound(annotation->enter);
  ContextMethod<ExitTraits>::init_bound(annotation->exit);
}

}  // namespace nvspan
