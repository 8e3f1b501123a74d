// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/device/range_object.hpp"

#include <mutex>
#include <vector>

#include "bindings/device/annotate_companion.hpp"
#include "bindings/device/arguments.hpp"
#include "bindings/device/handle.hpp"
#include "bindings/device/range_cache.hpp"
#include "bindings/device/stream.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/event/event_fields.hpp"
#include "bindings/support/free_list.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

constexpr unsigned range_fields = event_fields | field_bit(field_level);
constexpr CallForm range_form = {"device_range", 1, range_fields};
constexpr CallForm start_form = {"start_device_range", 1, range_fields};
constexpr CallForm domain_form = {"device_range", 1, range_fields & ~field_bit(field_domain)};

struct OpenHandle {
  PyObject* handle;  // owned
  unsigned long thread;
};

struct DeviceRangeObject {
  PyObject_HEAD Annotation* annotation;  // owned; shared with other calls alike
  PyObject* stream;                      // owned; null: the current one
  cuda::Options options;
  OpenHandle first;               // handle null: nothing is open
  std::vector<OpenHandle>* more;  // opened after the first
  BoundMethod enter;
  BoundMethod exit;
  object_mutex mutex;
};

FreeList<DeviceRangeObject, 64> free_ranges;

DeviceRangeObject* as_range(PyObject* object) noexcept {
  return reinterpret_cast<DeviceRangeObject*>(object);
}

bool wanted(const EventFields& fields, const annotate::ToolTable& tool) noexcept {
  return fields.event.domain->connected(tool) && fields.event.level <= fields.event.domain->level();
}

// False, with a warning, if the stream cannot be told.
bool find_stream(PyObject* stream, cuda::Target& target) noexcept {
  const py_error_scope scope;
  if (resolve_stream(stream, target) == 0) return true;
  PyErr_Clear();
  warn_once_quietly("device-stream",
                    "device_range dropped: cannot determine the current CUDA stream; pass stream=");
  return false;
}

cuda::DeviceRange* begin_without_gil(annotate::ReadyEvent* event, const annotate::ToolTable* tool,
                                     const cuda::Options& options, cuda::Target target) noexcept {
  const released_gil released;
  return cuda::begin_range(event, tool, options, target);
}

// Begins a range. Returns its reference, or null where nobody listens or nothing could be placed.
// What goes wrong on the way is reported, and the program goes on.
cuda::DeviceRange* begin(Annotation* annotation, PyObject* stream,
                         const cuda::Options& options) noexcept {
  const annotate::ToolTable* tool = annotate::listening_tool();
  if (tool && (!tool->reaches_tool || !wanted(*annotation->fields, *tool))) tool = nullptr;
  if (!tool && !options.timed) return nullptr;
  cuda::Target target;
  if (!find_stream(stream, target)) return nullptr;
  const py_error_scope scope;
  cuda::DeviceRange* range = nullptr;
  EventFields& fields = *annotation->fields;
  if (fields.lazy()) {
    EventFields evaluated;
    if (tool) evaluate_fields(evaluated, fields, annotation->failed_lazily);
    if (evaluated.has_data) {
      warn_once_quietly("payload of a device range",
                        "the payload of a device range must be a number: other data is left out");
    }
    range = begin_without_gil(tool ? &evaluated.event : nullptr, tool, options, target);
    clear_fields(evaluated);
  } else {
    range = begin_without_gil(&fields.event, tool, options, target);
  }
  annotate::Domain& domain = *annotation->fields->event.domain;
  if (overflow_pending(domain)) warn_overflow(domain);
  return range;
}

void init_methods(DeviceRangeObject* range) noexcept;

// Takes over the reference to `annotation`.
PyObject* range_with(Annotation* annotation, PyObject* stream, const cuda::Options& options) {
  DeviceRangeObject* range = free_ranges.take();
  if (!range) {
    range = PyObject_New(DeviceRangeObject, state().device.range_type);
    if (!range) {
      Py_DECREF(reinterpret_cast<PyObject*>(annotation));
      return nullptr;
    }
    new (&range->mutex) object_mutex;
    init_methods(range);
  }
  range->annotation = annotation;
  range->stream = Py_XNewRef(stream);
  range->options = options;
  range->first.handle = nullptr;
  range->more = nullptr;
  return reinterpret_cast<PyObject*>(range);
}

PyObject* new_range(const PythonCall& call) {
  py_ref kept = py_ref::steal(kept_range(call));
  if (kept && !as_range(kept.get())->first.handle) return kept.release();
  DeviceArguments arguments;
  if (parse_device_call(call, arguments) < 0) return nullptr;
  PyObject* range = range_with(arguments.annotation, arguments.stream, arguments.options);
  if (range) keep_range(call, range);
  return range;
}

void range_dealloc(PyObject* object) {
  DeviceRangeObject* range = as_range(object);
  Py_DECREF(reinterpret_cast<PyObject*>(range->annotation));
  Py_XDECREF(range->stream);
  Py_XDECREF(range->first.handle);
  if (range->more) {
    for (const OpenHandle& open : *range->more) Py_DECREF(open.handle);
    delete range->more;
  }
  if (free_ranges.keep(range)) return;
  range->mutex.~object_mutex();
  free_object(object);
}

PyObject* decorate_device(PyObject* range, PyObject* target) {
  return call_hook(&PythonHooks::decorate_with_device_range, range, target);
}

PyObject* call(const CallForm& form, PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
               PyObject* kwnames) {
  const PythonCall call = {&form, domain, args, nargs, kwnames};
  if (!is_decoration(args, nargs)) return new_range(call);
  constexpr Py_ssize_t most = 16;
  PyObject* values[most] = {Py_None};
  if (call.count() > most) {
    return PyErr_Format(PyExc_TypeError, "%s() got too many arguments", form.function);
  }
  for (Py_ssize_t i = 1; i < call.count(); ++i) values[i] = args[i];
  py_ref range = py_ref::steal(new_range({&form, domain, values, nargs, kwnames}));
  return range ? decorate_device(range.get(), args[0]) : nullptr;
}

PyObject* range_vectorcall(PyObject*, PyObject* const* args, size_t nargsf, PyObject* kwnames) {
  return call(range_form, nullptr, args, PyVectorcall_NARGS(nargsf), kwnames);
}

PyObject* range_call(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"func", nullptr};
  PyObject* target = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:device_range", const_cast<char**>(names),
                                   &target)) {
    return nullptr;
  }
  return decorate_device(object, target);
}

void remember(DeviceRangeObject* self, PyObject* handle) noexcept {
  const OpenHandle open = {Py_NewRef(handle), PyThread_get_thread_ident()};
  std::lock_guard<object_mutex> lock(self->mutex);
  if (!self->first.handle) {
    self->first = open;
    return;
  }
  if (!self->more) self->more = new std::vector<OpenHandle>;
  self->more->push_back(open);
}

// The newest range that this thread opened, else the newest of all. A reference, or null.
PyObject* take(DeviceRangeObject* self) noexcept {
  std::lock_guard<object_mutex> lock(self->mutex);
  if (!self->more || self->more->empty()) return std::exchange(self->first.handle, nullptr);
  const unsigned long thread = PyThread_get_thread_ident();
  std::vector<OpenHandle>& more = *self->more;
  for (size_t i = more.size(); i-- > 0;) {
    if (more[i].thread != thread) continue;
    PyObject* handle = more[i].handle;
    more.erase(more.begin() + static_cast<std::ptrdiff_t>(i));
    return handle;
  }
  PyObject* handle = self->first.handle;
  if (!handle || self->first.thread != thread) {
    handle = more.back().handle;
    more.pop_back();
  } else {
    self->first = more.front();
    more.erase(more.begin());
  }
  return handle;
}

struct DeviceRangeMethods {
  using Owner = DeviceRangeObject;
  static constexpr const char* type = "device_range";
  static constexpr const char* object = "a device_range";
  static bool is_owner(PyObject* object) noexcept {
    return Py_IS_TYPE(object, state().device.range_type);
  }
  static PyObject* enter(DeviceRangeObject* self) {
    PyObject* handle = device_handle_new(begin(self->annotation, self->stream, self->options));
    if (handle) remember(self, handle);
    return handle;
  }
  static PyObject* exit(DeviceRangeObject* self) {
    if (PyObject* handle = take(self)) {
      end_device_handle(handle, nullptr);
      Py_DECREF(handle);
    }
    Py_RETURN_NONE;
  }
};

void init_methods(DeviceRangeObject* range) noexcept {
  init_bound_methods<DeviceRangeMethods>(range);
}

// For the decorators: the same, with nothing open.
PyObject* range_for_call(PyObject* object, PyObject*) {
  DeviceRangeObject* self = as_range(object);
  Py_INCREF(reinterpret_cast<PyObject*>(self->annotation));
  return range_with(self->annotation, self->stream, self->options);
}

PyObject* range_named(PyObject* object, PyObject* name) {
  DeviceRangeObject* self = as_range(object);
  py_ref named = call_method(reinterpret_cast<PyObject*>(self->annotation), "_named", name);
  if (!named) return nullptr;
  return range_with(reinterpret_cast<Annotation*>(named.release()), self->stream, self->options);
}

PyObject* range_repr(PyObject* object) {
  const EventFields& fields = *as_range(object)->annotation->fields;
  return PyUnicode_FromFormat("device_range(%R, domain=%R)",
                              fields.message ? fields.message : Py_None, fields.domain);
}

PyObject* range_domain(PyObject* object, void*) {
  return Py_NewRef(as_range(object)->annotation->fields->domain);
}

PyObject* start_range(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  DeviceArguments arguments;
  if (parse_device_call({&start_form, nullptr, args, nargs, kwnames}, arguments) < 0)
    return nullptr;
  cuda::DeviceRange* range = begin(arguments.annotation, arguments.stream, arguments.options);
  Py_DECREF(reinterpret_cast<PyObject*>(arguments.annotation));
  return device_handle_new(range);
}

PyObject* end_range(PyObject*, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"handle", "stream", nullptr};
  PyObject* handle = nullptr;
  PyObject* stream = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|O:end_device_range", const_cast<char**>(names),
                                   &handle, &stream)) {
    return nullptr;
  }
  cuda::Target target;
  if (stream != Py_None && resolve_stream(stream, target) < 0) return nullptr;
  if (handle == Py_None) Py_RETURN_NONE;
  if (!is_device_handle(handle)) {
    return PyErr_Format(PyExc_TypeError,
                        "handle must be a handle from start_device_range or None, not %R", handle);
  }
  end_device_handle(handle, stream == Py_None ? nullptr : &target);
  Py_RETURN_NONE;
}

PyMethodDef device_range_methods[] = {
    {"_for_call", as_method(range_for_call), METH_NOARGS, nullptr},
    {"_named", as_method(range_named), METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

PyGetSetDef device_range_properties[] = {{"domain", range_domain, nullptr, "The Domain.", nullptr},
                                         {nullptr, nullptr, nullptr, nullptr, nullptr}};

PyMethodDef device_range_functions[] = {
    {"start_device_range", as_method(start_range), METH_FASTCALL | METH_KEYWORDS,
     "start_device_range(message, *, stream=None, color=None, domain=None, category=None,\n"
     "                   payload=None, backend='auto', placement='side', timing=False,\n"
     "                   capture='graph', level=1)\n--\n\n"
     "Starts a device range that any thread may end, on any stream, with end_device_range.\n\n"
     "Arguments as for device_range. Returns a DeviceRangeHandle.\n\n"
     ">>> import nvspan\n"
     ">>> handle = nvspan.start_device_range('all-reduce')\n"
     ">>> nvspan.end_device_range(handle)\n"},
    {"end_device_range", as_method(end_range), METH_VARARGS | METH_KEYWORDS,
     "end_device_range(handle, stream=None)\n--\n\n"
     "Ends a device range: when the stream has done what it was given so far.\n\n"
     "stream: as for device_range, except that None is the stream on which the range started. On\n"
     "another stream the range ends when that stream has finished, never before it starts.\n\n"
     "Ending a range again, or None, does nothing. TypeError for anything else."},
    {nullptr, nullptr, 0, nullptr}};

const char device_range_documentation[] =
    "device_range(message=None, *, stream=None, color=None, domain=None, category=None,\n"
    "             payload=None, backend='auto', placement='side', timing=False, capture='graph',\n"
    "             level=1)\n--\n\n"
    "Time the work that a CUDA stream does for a block or a function. Context manager,\n"
    "decorator.\n\n"
    "Args:\n"
    "    message, color, domain, category, payload, level: As for annotate; payload is a\n"
    "        number.\n"
    "    stream: A stream of torch, CuPy, numba or cuda.core, an object with\n"
    "        ``__cuda_stream__``, or a raw handle. Default: the current stream of the\n"
    "        framework in use.\n"
    "    backend: 'exact' uses the GPU's clock and needs a tool with deferred events;\n"
    "        'callback' works with every tool and uses the CPU's clock; 'auto' prefers\n"
    "        'exact'.\n"
    "    placement: 'side' measures on a stream of nvspan's, 'stream' in the stream itself,\n"
    "        which takes less CPU time and more GPU time.\n"
    "    timing: Measure without a tool too; the handle's ``elapsed()`` returns milliseconds.\n"
    "    capture: During CUDA graph capture, 'graph' adds the range to the graph, 'skip'\n"
    "        leaves it out.\n\n"
    "Returns:\n"
    "    From ``with``, a DeviceRangeHandle.\n\n"
    "Raises:\n"
    "    TypeError, ValueError: Invalid argument. CUDA errors never raise: lost ranges are\n"
    "        counted in device_stats().\n\n"
    "Any number of threads may enter one object at once. A child forked after CUDA was used\n"
    "records no device ranges.\n\n"
    ">>> import nvspan\n"
    ">>> with nvspan.device_range('forward', timing=True) as handle:\n"
    "...     pass\n"
    ">>> handle.done() or not nvspan.device_available()\n"
    "True\n";

}  // namespace

cuda::DeviceRange* begin_device_range(EventFields& fields, const annotate::ToolTable* tool,
                                      PyObject* stream, const cuda::Options& options) noexcept {
  cuda::Target target;
  if (!find_stream(stream, target)) return nullptr;
  return begin_without_gil(&fields.event, tool, options, target);
}

PyObject* device_range_in_domain(PyObject* domain, PyObject* const* args, Py_ssize_t nargs,
                                 PyObject* kwnames) {
  return call(domain_form, domain, args, nargs, kwnames);
}

int device_range_object_add_to_module(PyObject* module) {
  annotate_device_init();
  PyTypeObject* type = make_type("nvspan.device_range", sizeof(DeviceRangeObject), 0,
                                 {{Py_tp_dealloc, slot(range_dealloc)},
                                  {Py_tp_repr, slot(range_repr)},
                                  {Py_tp_call, slot(range_call)},
                                  {Py_tp_methods, device_range_methods},
                                  {Py_tp_getset, device_range_properties},
                                  {Py_tp_doc, const_cast<char*>(device_range_documentation)}});
  if (!type || device_arguments_init() < 0 || add_context_methods<DeviceRangeMethods>(type) < 0)
    return -1;
  seal_type(type, range_vectorcall);
  state().device.range_type = type;
  if (PyModule_AddFunctions(module, device_range_functions) < 0) return -1;
  return PyModule_AddType(module, type);
}

}  // namespace nvspan::bindings
