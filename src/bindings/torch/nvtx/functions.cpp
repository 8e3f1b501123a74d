// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/torch/nvtx/functions.hpp"

#include <cstring>
#include <string>

#include "annotate/event/open_ranges.hpp"
#include "annotate/layers/check.hpp"
#include "bindings/annotation/annotation_cache.hpp"
#include "bindings/check/host.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/event/send.hpp"
#include "bindings/range/range_handle.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/torch/nvtx/formatted_range.hpp"

namespace nvspan::bindings {

namespace {

constexpr CallForm push_form = {"range_push", 1, event_fields};
constexpr CallForm mark_form = {"mark", 1, event_fields};
constexpr CallForm start_form = {"range_start", 1, event_fields};
constexpr CallForm range_form = {"range", 1, event_fields};
constexpr CallForm options_form = {"range", 0, event_fields & ~field_bit(field_message)};

// The arguments of a call with the message first, which torch lets one give as `msg`. 0, or -1 with
// a TypeError.
int read_message(const char* function, FirstPositional& call, PyObject* const* args,
                 Py_ssize_t nargs, PyObject* kwnames) {
  if (call.read("msg", args, nargs, kwnames) < 0) return -1;
  if (call.nargs > 0) return 0;
  PyErr_Format(PyExc_TypeError, "%s() missing 1 required argument: 'msg'", function);
  return -1;
}

Annotation* annotation_of(const CallForm& form, PyObject* const* args, Py_ssize_t nargs,
                          PyObject* kwnames, bool exclusive) {
  FirstPositional call;
  if (read_message(form.function, call, args, nargs, kwnames) < 0) return nullptr;
  Annotation* annotation =
      annotation_for_call(form, nullptr, call.args, call.nargs, call.kwnames, exclusive);
  if (annotation) without_default_color(*annotation->fields);
  return annotation;
}

void release(Annotation* annotation) noexcept {
  Py_DECREF(reinterpret_cast<PyObject*>(annotation));
}

// How many ranges of the domain this thread has open, as far as nvspan opened them.
long long open_in(const annotate::Domain* domain) noexcept {
  const annotate::OpenRanges& open = annotate::detail::open_ranges;
  unsigned long long depth = 0;
  for (uint32_t i = 0; i < open.size; ++i) {
    if (open.entries[i].domain == domain) depth += open.entries[i].count;
  }
  return static_cast<long long>(depth);
}

PyObject* range_push(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  Annotation* annotation = annotation_of(push_form, args, nargs, kwnames, false);
  if (!annotation) return nullptr;
  EventFields& fields = *annotation->fields;
  annotate::Domain* domain = fields.event.domain;
  const long long depth = open_in(domain);
  const annotate::ToolTable* tool = annotate::listening_tool();
  const uint64_t epoch = tool ? send_push_of(nullptr, fields, *tool, annotation->failed_lazily) : 0;
  annotate::note_push(nullptr, domain, epoch);
  if (epoch != 0) notice_overflow(fields);
  release(annotation);
  return PyLong_FromLongLong(depth);
}

// The Domain of a call that takes `domain` by keyword alone, beside `positional` arguments.
annotate::Domain* domain_of(const char* function, Py_ssize_t positional, Py_ssize_t nargs,
                            PyObject* const* args, PyObject* kwnames) {
  PyObject* name = Py_None;
  if (nargs > positional) {
    PyErr_Format(PyExc_TypeError, "%s() takes %zd positional argument%s (%zd given)", function,
                 positional, positional == 1 ? "" : "s", nargs);
    return nullptr;
  }
  const Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    PyObject* key = PyTuple_GET_ITEM(kwnames, i);
    if (PyUnicode_CompareWithASCIIString(key, "domain") == 0) {
      name = args[nargs + i];
    } else if (positional == 0 || PyUnicode_CompareWithASCIIString(key, "range_id") != 0) {
      PyErr_Format(PyExc_TypeError, "%s() got an unexpected keyword argument %R", function, key);
      return nullptr;
    }
  }
  PyObject* domain = domain_from_object(name);
  return domain ? reinterpret_cast<DomainObject*>(domain)->core : nullptr;
}

PyObject* range_pop(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  annotate::Domain* domain = domain_of("range_pop", 0, nargs, args, kwnames);
  if (!domain) return nullptr;
  const long long depth = open_in(domain) - 1;
  if (annotate::checking()) {
    const annotate::check::ExplicitPop explicit_pop;
    if (!with_raising_checks([&] { annotate::pop_domain(*domain); })) return nullptr;
  } else {
    annotate::pop_domain(*domain);
  }
  return PyLong_FromLongLong(depth);
}

PyObject* mark(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  Annotation* annotation = annotation_of(mark_form, args, nargs, kwnames, false);
  if (!annotation) return nullptr;
  if (const annotate::ToolTable* tool = annotate::listening_tool()) {
    send_fields(*annotation->fields, *tool, annotation->failed_lazily,
                [&](const annotate::Outgoing& event) { annotate::send_mark(event, *tool); });
    notice_overflow(*annotation->fields);
  }
  release(annotation);
  Py_RETURN_NONE;
}

PyObject* range_start(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  Annotation* annotation = annotation_of(start_form, args, nargs, kwnames, false);
  if (!annotation) return nullptr;
  annotate::Span span;
  if (const annotate::ToolTable* tool = annotate::listening_tool()) {
    span = send_start_of(*annotation->fields, *tool, annotation->failed_lazily);
    notice_overflow(*annotation->fields);
  }
  release(annotation);
  return PyLong_FromUnsignedLongLong(span.id);
}

PyObject* range_end(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  annotate::Domain* domain = domain_of("range_end", 1, nargs, args, kwnames);
  FirstPositional call;
  if (!domain || call.read("range_id", args, nargs, kwnames) < 0) return nullptr;
  PyObject* given = call.nargs > 0 ? call.args[0] : nullptr;
  if (!given || !PyLong_Check(given)) {
    return PyErr_Format(PyExc_TypeError, "range_id must be an int from range_start");
  }
  const unsigned long long id = PyLong_AsUnsignedLongLong(given);
  if (PyErr_Occurred() || end_range_by_id(*domain, id) < 0) return nullptr;
  Py_RETURN_NONE;
}

bool has_braces(PyObject* text) noexcept {
  const Py_ssize_t length = PyUnicode_GET_LENGTH(text);
  if (PyUnicode_IS_ASCII(text)) {
    const void* data = PyUnicode_DATA(text);
    const auto size = static_cast<size_t>(length);
    return std::memchr(data, '{', size) || std::memchr(data, '}', size);
  }
  return PyUnicode_FindChar(text, '{', 0, length, 1) != -1 ||
         PyUnicode_FindChar(text, '}', 0, length, 1) != -1;
}

// Whether the message has a replacement field of that name: "{color}", "{color!r}", "{color.red}".
bool has_field(PyObject* message, PyObject* name) noexcept {
  const Py_ssize_t size = PyUnicode_GET_LENGTH(message), name_size = PyUnicode_GET_LENGTH(name);
  for (Py_ssize_t at = 0; at + name_size + 1 < size; ++at) {
    if (PyUnicode_READ_CHAR(message, at) != '{') continue;
    const Py_ssize_t end = at + 1 + name_size;
    const Py_UCS4 after = PyUnicode_READ_CHAR(message, end);
    const bool ends = after == '}' || after == '!' || after == ':' || after == '.' || after == '[';
    if (ends && PyUnicode_Tailmatch(message, name, at + 1, end, -1) == 1) return true;
    if (PyUnicode_READ_CHAR(message, at + 1) == '{') ++at;  // an escaped brace
  }
  return false;
}

// The attributes among the keywords, as an annotation without a message; null if there are none, or
// with an exception. A keyword that the message is formatted with is none.
Annotation* options_of(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  const Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  CallArguments arguments;
  bool any = false;
  for (Py_ssize_t i = 0; i < named; ++i) {
    const AnnotationField field = field_from_name(PyTuple_GET_ITEM(kwnames, i));
    if (field == field_count || !(options_form.allowed & field_bit(field))) continue;
    if (has_field(args[0], PyTuple_GET_ITEM(kwnames, i))) continue;
    arguments.values[field] = args[nargs + i];
    any = true;
  }
  if (!any) return nullptr;
  Annotation* annotation = annotation_new();
  if (annotation && set_annotation(annotation, nullptr, arguments) < 0) {
    release(annotation);
    return nullptr;
  }
  if (annotation) without_default_color(*annotation->fields);
  return annotation;
}

// For decorators: has_field(message, name).
PyObject* message_has_field(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  if (nargs != 2 || !PyUnicode_Check(args[0]) || !PyUnicode_Check(args[1])) {
    return PyErr_Format(PyExc_TypeError, "has_field() takes a message and a name");
  }
  return PyBool_FromLong(has_field(args[0], args[1]));
}

// Whether every keyword is one of ours, so that nothing is there to be formatted with.
bool only_options(PyObject* kwnames) noexcept {
  const Py_ssize_t named = kwnames ? PyTuple_GET_SIZE(kwnames) : 0;
  for (Py_ssize_t i = 0; i < named; ++i) {
    const AnnotationField field = field_from_name(PyTuple_GET_ITEM(kwnames, i));
    if (field == field_count || !(options_form.allowed & field_bit(field))) return false;
  }
  return true;
}

PyObject* range(PyObject*, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  FirstPositional call;
  if (read_message("range", call, args, nargs, kwnames) < 0) return nullptr;
  PyObject* message = call.args[0];
  if (!PyUnicode_Check(message)) {
    return PyErr_Format(PyExc_TypeError, "msg must be a str, not %R", message);
  }
  if (call.nargs == 1 && !has_braces(message) && only_options(call.kwnames)) {
    // Nothing to format: an annotation, which is found by its arguments.
    Annotation* annotation =
        annotation_for_call(range_form, nullptr, call.args, 1, call.kwnames, true);
    if (annotation) without_default_color(*annotation->fields);
    return reinterpret_cast<PyObject*>(annotation);
  }
  Annotation* options = options_of(call.args, call.nargs, call.kwnames);
  if (PyErr_Occurred()) return nullptr;
  return formatted_range(call.args, call.nargs, call.kwnames, options);
}

PyMethodDef torch_nvtx_functions[] = {
    {"range_push", as_method(range_push), METH_FASTCALL | METH_KEYWORDS,
     "range_push(msg, *, domain=None, color=None, category=None, payload=None)\n--\n\n"
     "Opens a range nested in this thread's open ranges; returns its depth, 0 for the "
     "outermost.\n\n"
     "The depth counts what nvspan has open in this thread and domain. Close it with range_pop on\n"
     "the same thread and domain. Other arguments as for nvspan.annotate.\n\n"
     ">>> from nvspan.torch import nvtx\n"
     ">>> nvtx.range_push('outer'), nvtx.range_push('inner')\n"
     "(0, 1)\n"
     ">>> nvtx.range_pop(), nvtx.range_pop()\n"
     "(1, 0)\n"},
    {"range_pop", as_method(range_pop), METH_FASTCALL | METH_KEYWORDS,
     "range_pop(*, domain=None)\n--\n\n"
     "Closes this thread's innermost open range of the domain; returns its depth, -1 if there is\n"
     "none."},
    {"range_start", as_method(range_start), METH_FASTCALL | METH_KEYWORDS,
     "range_start(msg, *, domain=None, color=None, category=None, payload=None)\n--\n\n"
     "Starts a range that any thread may end with range_end. Returns its id, 0 if none listens."},
    {"range_end", as_method(range_end), METH_FASTCALL | METH_KEYWORDS,
     "range_end(range_id, *, domain=None)\n--\n\n"
     "Ends the range that range_start returned, in the same domain; 0 is ignored."},
    {"mark", as_method(mark), METH_FASTCALL | METH_KEYWORDS,
     "mark(msg, *, domain=None, color=None, category=None, payload=None)\n--\n\n"
     "Sends an instantaneous event."},
    {"range", as_method(range), METH_FASTCALL | METH_KEYWORDS,
     "range(msg, *args, domain=None, color=None, category=None, payload=None, **kwargs)\n--\n\n"
     "A range as context manager and decorator, called ``msg.format(*args, **kwargs)``.\n\n"
     "It is formatted at each entry, and only while a tool listens; a message that cannot be\n"
     "formatted is shown as it is, with a warning.\n\n"
     ">>> from nvspan.torch import nvtx\n"
     ">>> with nvtx.range('step {}', 3, domain='training'):\n"
     "...     pass\n"},
    {"has_field", as_method(message_has_field), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int torch_nvtx_add_to_module(PyObject* module) {
  if (torch_range_add_to_module(module) < 0) return -1;
  py_ref owner = py_ref::steal(PyUnicode_InternFromString("nvspan.torch.nvtx"));
  if (!owner) return -1;
  for (PyMethodDef* each = torch_nvtx_functions; each->ml_name; ++each) {
    py_ref function = py_ref::steal(PyCFunction_NewEx(each, nullptr, owner.get()));
    const std::string name = std::string("_torch_") + each->ml_name;
    if (!function || PyModule_AddObjectRef(module, name.c_str(), function.get()) < 0) return -1;
  }
  return 0;
}

}  // namespace nvspan::bindings
