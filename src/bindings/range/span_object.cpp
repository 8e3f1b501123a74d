// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/range/span_object.hpp"

#include <mutex>
#include <vector>

#include "annotate/layers/check.hpp"
#include "bindings/annotation/annotation_cache.hpp"
#include "bindings/check/host.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/event/send.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

constexpr unsigned span_fields = event_fields | field_bit(field_level);
constexpr CallForm span_form = {"span", 5, span_fields};
constexpr CallForm domain_span_form = {"span", 4, span_fields & ~field_bit(field_domain)};

struct OpenSpanRange {
  annotate::Span span;
  unsigned long thread;
};

struct SpanObject {
  PyObject_HEAD Annotation* annotation;  // owned; its attributes are what start() sends
  std::vector<OpenSpanRange>* open;      // null: nothing was ever open
  uint64_t last_ended;                   // id; for check mode
  object_mutex mutex;
};

SpanObject* as_span(PyObject* object) noexcept { return reinterpret_cast<SpanObject*>(object); }

PyObject* new_span(const CallForm& form, PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                   PyObject* kwnames) {
  py_ref annotation = py_ref::steal(annotation_from_call(form, domain, args, nargs, kwnames));
  if (!annotation) return nullptr;
  SpanObject* span = PyObject_GC_New(SpanObject, state().range.span_type);
  if (!span) return nullptr;
  span->annotation = reinterpret_cast<Annotation*>(annotation.release());
  span->open = nullptr;
  span->last_ended = 0;
  new (&span->mutex) object_mutex;
  PyObject_GC_Track(span);
  return reinterpret_cast<PyObject*>(span);
}

PyObject* span_vectorcall(PyObject*, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return new_span(span_form, nullptr, args, PyVectorcall_NARGS(nargsf), kwnames);
}

int span_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(reinterpret_cast<PyObject*>(as_span(object)->annotation));
  return 0;
}

int span_clear(PyObject*) { return 0; }  // the annotation breaks its own cycles

void span_dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  SpanObject* span = as_span(object);
  Py_DECREF(reinterpret_cast<PyObject*>(span->annotation));
  delete span->open;
  span->mutex.~object_mutex();
  free_object(object);
}

void start(SpanObject* self, const annotate::ToolTable& tool) noexcept {
  EventFields& fields = *self->annotation->fields;
  const annotate::Span span = send_start_of(fields, tool, self->annotation->failed_lazily);
  if (span.epoch != 0) {
    std::lock_guard<object_mutex> lock(self->mutex);
    if (!self->open) self->open = new std::vector<OpenSpanRange>;
    self->open->push_back({span, PyThread_get_thread_ident()});
  }
  notice_overflow(fields);
}

// The newest range that this thread started, else the newest of all.
bool take(SpanObject* self, annotate::Span& span) noexcept {
  std::lock_guard<object_mutex> lock(self->mutex);
  if (!self->open || self->open->empty()) return false;
  std::vector<OpenSpanRange>& open = *self->open;
  size_t index = open.size() - 1;
  if (open[index].thread != PyThread_get_thread_ident()) {
    const unsigned long thread = PyThread_get_thread_ident();
    for (size_t i = open.size(); i-- > 0;) {
      if (open[i].thread != thread) continue;
      index = i;
      break;
    }
  }
  span = open[index].span;
  open.erase(open.begin() + static_cast<std::ptrdiff_t>(index));
  self->last_ended = span.id;
  return true;
}

PyObject* span_start(PyObject* object, PyObject*) {
  if (const annotate::ToolTable* tool = annotate::listening_tool()) start(as_span(object), *tool);
  return Py_NewRef(object);
}

void end(SpanObject* self) noexcept {
  annotate::Span span;
  if (take(self, span)) {
    annotate::end_span(span);
  } else if (annotate::checking()) {
    annotate::check::end_again(self->last_ended, *self->annotation->fields->event.domain);
  }
}

PyObject* span_end_method(PyObject* object, PyObject*) {
  if (annotate::checking()) {
    if (!with_raising_checks([&] { end(as_span(object)); })) return nullptr;
  } else if (as_span(object)->open) {
    end(as_span(object));
  }
  Py_RETURN_NONE;
}

PyObject* span_exit(PyObject* object, PyObject* const*, Py_ssize_t) {
  return span_end_method(object, nullptr);
}

PyObject* span_open(PyObject* object, void*) {
  SpanObject* self = as_span(object);
  std::lock_guard<object_mutex> lock(self->mutex);
  return PyLong_FromSize_t(self->open ? self->open->size() : 0);
}

PyObject* span_attributes(PyObject* object, void*) {
  return PyObject_GetAttrString(reinterpret_cast<PyObject*>(as_span(object)->annotation),
                                "attributes");
}

PyObject* span_domain(PyObject* object, void*) {
  return Py_NewRef(as_span(object)->annotation->fields->domain);
}

PyObject* span_repr(PyObject* object) {
  const EventFields& fields = *as_span(object)->annotation->fields;
  return PyUnicode_FromFormat("span(%R, domain=%R)", fields.message ? fields.message : Py_None,
                              fields.domain);
}

PyMethodDef span_methods[] = {
    {"start", as_method(span_start), METH_NOARGS,
     "start($self)\n--\n\nStarts the range and returns the span."},
    {"end", as_method(span_end_method), METH_NOARGS,
     "end($self)\n--\n\n"
     "Ends the range: the newest that this thread started, else the newest. None open: nothing."},
    {"__enter__", as_method(span_start), METH_NOARGS, nullptr},
    {"__exit__", as_method(span_exit), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef span_properties[] = {
    {"open", span_open, nullptr, "How many ranges of this object a tool has open.", nullptr},
    {"attributes", span_attributes, nullptr, "The EventAttributes that start() sends.", nullptr},
    {"domain", span_domain, nullptr, "The Domain.", nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

const char span_documentation[] =
    "span(message=None, color=None, domain=None, category=None, payload=None, *, level=1)\n--\n\n"
    "A range that starts and ends on request: in any function, task or thread.\n\n"
    "Arguments as for annotate. start() sends the start and returns the span, end() the end;\n"
    "as a context manager it does both. One object may be open many times at once, and is safe in\n"
    "all threads. A range that is never ended stays open in the tool.\n\n"
    ">>> import nvspan\n"
    ">>> request = nvspan.span('request', domain='server').start()\n"
    ">>> request.end()\n";

}  // namespace

PyObject* span_in_domain(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                         PyObject* kwnames) {
  return new_span(domain_span_form, domain, args, nargs, kwnames);
}

int span_object_add_to_module(PyObject* module) {
  PyTypeObject* type = make_type("nvspan.span", sizeof(SpanObject), Py_TPFLAGS_HAVE_GC,
                                 {{Py_tp_dealloc, slot(span_dealloc)},
                                  {Py_tp_traverse, slot(span_traverse)},
                                  {Py_tp_clear, slot(span_clear)},
                                  {Py_tp_repr, slot(span_repr)},
                                  {Py_tp_methods, span_methods},
                                  {Py_tp_getset, span_properties},
                                  {Py_tp_doc, const_cast<char*>(span_documentation)}});
  if (!type) return -1;
  seal_type(type, span_vectorcall);
  state().range.span_type = type;
  return PyModule_AddType(module, type);
}

}  // namespace nvspan::bindings
