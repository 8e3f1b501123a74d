// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/torch/nvtx/formatted_range.hpp"

#include <algorithm>

#include "annotate/event/open_ranges.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/event/send.hpp"
#include "bindings/support/context_method.hpp"
#include "bindings/support/free_list.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

constexpr Py_ssize_t most_inline = 4;

struct FormattedRange {
  PyObject_HEAD PyObject* message;
  PyObject** values;  // what it is formatted with: positional first; owned references
  PyObject* kwnames;  // of the last of them, or null
  Py_ssize_t count;
  Annotation* options;  // or null
  bool failed_lazily;
  BoundMethod enter;
  BoundMethod exit;
  PyObject* inline_values[most_inline];
};

FreeList<FormattedRange, 64> free_ranges;

FormattedRange* as_range(PyObject* object) noexcept {
  return reinterpret_cast<FormattedRange*>(object);
}

// The formatted message, or the message itself where that fails, which is said once.
py_ref formatted(FormattedRange* self) noexcept {
  const py_error_scope scope;
  py_ref format = py_ref::steal(PyObject_GetAttrString(self->message, "format"));
  const Py_ssize_t named = self->kwnames ? PyTuple_GET_SIZE(self->kwnames) : 0;
  py_ref text = py_ref::steal(format ? PyObject_Vectorcall(format.get(), self->values,
                                                           static_cast<size_t>(self->count - named),
                                                           self->kwnames)
                                     : nullptr);
  if (text && PyUnicode_Check(text.get())) return text;
  PyErr_Clear();
  warn_once_quietly("format of a range", "the message %R of a range cannot be formatted",
                    self->message);
  return py_ref::borrow(self->message);
}

void enter_range(FormattedRange* self) noexcept {
  const annotate::ToolTable* tool = annotate::listening_tool();
  if (!tool) return;
  EventFields fields;
  if (self->options) {
    copy_fields(fields, *self->options->fields);
  } else {
    set_domain(fields, state().event.default_domain);
    fields.event.attributes.colorType = NVTX_COLOR_UNKNOWN;
  }
  annotate::Domain* domain = fields.event.domain;
  if (domain->connected(*tool)) {
    const py_ref text = formatted(self);
    const py_error_scope scope;
    if (set_message(fields, text.get(), false) < 0) PyErr_Clear();
    // The formatting may have run anything, a change of tools as well.
    tool = annotate::listening_tool();
    const uint64_t epoch = tool ? send_push_of(self, fields, *tool, self->failed_lazily) : 0;
    if (epoch != 0) annotate::note_push(self, domain, epoch);
    notice_overflow(fields);
  }
  clear_fields(fields);
}

struct FormattedRangeMethods {
  using Owner = FormattedRange;
  static constexpr const char* type = "range";
  static constexpr const char* object = "a range";
  static bool is_owner(PyObject* object) noexcept {
    return Py_IS_TYPE(object, state().torch.formatted_range_type);
  }
  static PyObject* enter(FormattedRange* self) {
    enter_range(self);
    return Py_NewRef(reinterpret_cast<PyObject*>(self));
  }
  static PyObject* exit(FormattedRange* self) {
    annotate::pop_owned(self);
    Py_RETURN_NONE;
  }
};

FormattedRange* new_range() noexcept {
  if (FormattedRange* kept = free_ranges.take()) return kept;
  FormattedRange* range = PyObject_GC_New(FormattedRange, state().torch.formatted_range_type);
  if (!range) return nullptr;
  init_bound_methods<FormattedRangeMethods>(range);
  return range;
}

int range_clear(PyObject* object) {
  FormattedRange* self = as_range(object);
  for (Py_ssize_t i = std::exchange(self->count, 0); i-- > 0;) Py_CLEAR(self->values[i]);
  if (self->values != self->inline_values) PyMem_Free(self->values);
  self->values = self->inline_values;
  Py_CLEAR(self->kwnames);
  Annotation* options = std::exchange(self->options, nullptr);
  Py_XDECREF(reinterpret_cast<PyObject*>(options));
  return 0;
}

int range_traverse(PyObject* object, visitproc visit, void* arg) {
  FormattedRange* self = as_range(object);
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(reinterpret_cast<PyObject*>(self->options));
  for (Py_ssize_t i = 0; i < self->count; ++i) Py_VISIT(self->values[i]);
  return 0;
}

void range_dealloc(PyObject* object) {
  FormattedRange* self = as_range(object);
  if (PyObject_GC_IsTracked(object)) PyObject_GC_UnTrack(object);
  range_clear(object);
  Py_CLEAR(self->message);
  if (free_ranges.keep(self)) return;
  free_object(object);
}

PyObject* range_call(PyObject* object, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"func", nullptr};
  PyObject* target = nullptr;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O:range", const_cast<char**>(names), &target)) {
    return nullptr;
  }
  return call_hook(&PythonHooks::decorate_with_torch_range, object, target);
}

// (message, args, kwargs): what it was made with.
PyObject* range_parts(PyObject* object, void*) {
  FormattedRange* self = as_range(object);
  const Py_ssize_t named = self->kwnames ? PyTuple_GET_SIZE(self->kwnames) : 0;
  py_ref args = py_ref::steal(PyTuple_New(self->count - named));
  py_ref kwargs = py_ref::steal(PyDict_New());
  if (!args || !kwargs) return nullptr;
  for (Py_ssize_t i = 0; i < self->count - named; ++i) {
    PyTuple_SET_ITEM(args.get(), i, Py_NewRef(self->values[i]));
  }
  for (Py_ssize_t i = 0; i < named; ++i) {
    if (PyDict_SetItem(kwargs.get(), PyTuple_GET_ITEM(self->kwnames, i),
                       self->values[self->count - named + i]) < 0) {
      return nullptr;
    }
  }
  return PyTuple_Pack(3, self->message, args.get(), kwargs.get());
}

PyObject* range_repr(PyObject* object) {
  return PyUnicode_FromFormat("range(%R)", as_range(object)->message);
}

PyGetSetDef formatted_range_properties[] = {{"_parts", range_parts, nullptr, nullptr, nullptr},
                                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

}  // namespace

PyObject* formatted_range(PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                          Annotation* options) {
  const Py_ssize_t count = nargs - 1 + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
  FormattedRange* self = new_range();
  PyObject** values = self ? self->inline_values : nullptr;
  if (self && count > most_inline) values = PyMem_New(PyObject*, static_cast<size_t>(count));
  if (!values) {
    Py_XDECREF(reinterpret_cast<PyObject*>(options));
    if (self) PyObject_GC_Del(self);
    return PyErr_NoMemory();
  }
  self->message = Py_NewRef(args[0]);
  self->values = values;
  self->kwnames = Py_XNewRef(kwnames);
  self->count = count;
  self->options = options;
  self->failed_lazily = false;
  bool compound = options != nullptr;
  for (Py_ssize_t i = 0; i < count; ++i) {
    values[i] = Py_NewRef(args[i + 1]);
    compound |= PyObject_IS_GC(args[i + 1]) != 0;
  }
  // Only what may refer back to it is of interest to the collector.
  if (compound) PyObject_GC_Track(reinterpret_cast<PyObject*>(self));
  return reinterpret_cast<PyObject*>(self);
}

int torch_range_add_to_module(PyObject* module) {
  static constexpr char doc[] = "A range whose message is formatted.";
  PyTypeObject* type = make_type("nvspan._core._FormattedRange", sizeof(FormattedRange),
                                 Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                 {{Py_tp_dealloc, slot(range_dealloc)},
                                  {Py_tp_traverse, slot(range_traverse)},
                                  {Py_tp_clear, slot(range_clear)},
                                  {Py_tp_call, slot(range_call)},
                                  {Py_tp_repr, slot(range_repr)},
                                  {Py_tp_getset, formatted_range_properties},
                                  {Py_tp_doc, const_cast<char*>(doc)}});
  if (!type || add_context_methods<FormattedRangeMethods>(type) < 0) return -1;
  seal_type(type);
  state().torch.formatted_range_type = type;
  return PyModule_AddType(module, type);
}

}  // namespace nvspan::bindings
