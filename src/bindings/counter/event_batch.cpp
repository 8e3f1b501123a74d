// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/counter/event_batch.hpp"

#include <new>
#include <string>

#include "annotate/payload/counters.hpp"
#include "bindings/counter/columns.hpp"
#include "bindings/counter/object.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/payload/encoder.hpp"
#include "bindings/payload/numpy.hpp"
#include "bindings/support/python_hooks.hpp"

namespace nvspan::bindings {

namespace {

// Which times the rows have, as bits by the value of the role.
constexpr unsigned has_begin = 1u << 1, has_end = 1u << 2, has_mark = 1u << 3;

unsigned times_of(const annotate::Schema& schema) noexcept {
  constexpr unsigned role_shift = 12;
  constexpr uint64_t role_mask = 7;
  unsigned times = 0;
  for (const annotate::SchemaEntry& entry : schema.description().entries) {
    times |= 1u << ((entry.flags >> role_shift) & role_mask);
  }
  return times & (has_begin | has_end | has_mark);
}

struct Kind {
  uint64_t flag;
  unsigned times;
};

constexpr Kind kinds[] = {
    {nvtx::schema_flag::pushpop, has_begin | has_end},
    {nvtx::schema_flag::startend, has_begin | has_end},
    {nvtx::schema_flag::mark, has_mark},
    {5 << 3, has_begin},  // one end of a range each: push, pop, start, end
    {6 << 3, has_end},
    {7 << 3, has_begin},
    {8 << 3, has_end},
};

// The kind that is asked for, or that the times imply; null with an exception set.
const Kind* kind_of(PyObject* asked, PyObject* dtype, unsigned times) {
  if (asked == Py_None) {
    for (const Kind& kind : kinds) {
      if (kind.times == times && kind.flag <= nvtx::schema_flag::mark) return &kind;
    }
    PyErr_Format(PyExc_ValueError,
                 "rows of dtype %S need a field with entry_kind MARK, or RANGE_BEGIN and RANGE_END "
                 "(see numpy_dtype), or a kind",
                 dtype);
    return nullptr;
  }
  uint64_t flag = 0;
  if (number_of_choice(asked, "kind", flag) < 0) return nullptr;
  for (const Kind& kind : kinds) {
    if (kind.flag != flag) continue;
    if ((times & kind.times) == kind.times) return &kind;
    PyErr_Format(PyExc_ValueError, "rows of dtype %S lack the times that %S needs", dtype, asked);
    return nullptr;
  }
  PyErr_Format(PyExc_TypeError, "kind must be an EventKind or None, not %R", asked);
  return nullptr;
}

struct Batch {
  PyObject* rows = nullptr;
  PyObject* kind = Py_None;
  PyObject* ordering = nullptr;
  PyObject* scope = Py_None;
  PyObject* time_domain = nullptr;
};

// Sends the rows of an array whose memory is contiguous.
PyObject* send_rows(annotate::Domain& domain, const annotate::Schema& schema, PyObject* array,
                    uint64_t scope, uint64_t ordering) {
  Py_buffer view;
  if (PyObject_GetBuffer(array, &view, PyBUF_C_CONTIGUOUS) < 0) return nullptr;
  annotate::submit_events(domain, schema, view.buf, static_cast<size_t>(view.len), scope, ordering);
  PyBuffer_Release(&view);
  Py_RETURN_NONE;
}

PyObject* event_batch(annotate::Domain& domain, const Batch& batch) {
  if (!is_numpy_array(batch.rows)) {
    return PyErr_Format(PyExc_TypeError, "rows must be a numpy array with fields, not %R",
                        batch.rows);
  }
  uint64_t ordering = 0, time_domain = 1, scope = 0;
  if (batch.ordering && number_of_choice(batch.ordering, "ordering", ordering) < 0) return nullptr;
  if (batch.time_domain && number_of_choice(batch.time_domain, "time_domain", time_domain) < 0) {
    return nullptr;
  }
  py_ref path;
  if (scope_from_object(batch.scope, path, scope) < 0) return nullptr;
  py_ref dtype = py_ref::steal(PyObject_GetAttrString(batch.rows, "dtype"));
  if (!dtype) return nullptr;
  if (!dtype_is_native(dtype.get())) {
    dtype = native_dtype(dtype.get());
    if (!dtype) return nullptr;
  }
  const annotate::Schema* plain = flat_schema_of_dtype(dtype.get(), 0, time_domain);
  if (!plain) return nullptr;
  const Kind* kind = kind_of(batch.kind, dtype.get(), times_of(*plain));
  if (!kind) return nullptr;
  const annotate::Schema* schema = flat_schema_of_dtype(dtype.get(), kind->flag, time_domain);
  if (!schema) return nullptr;
  if (path) scope = annotate::scope_id(domain, PyBytes_AS_STRING(path.get()), 0);
  py_ref array = contiguous_array(batch.rows, dtype.get());
  return array ? send_rows(domain, *schema, array.get(), scope, ordering) : nullptr;
}

}  // namespace

PyObject* domain_event_batch(PyObject* domain, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"rows", "kind", "ordering", "scope", "time_domain", nullptr};
  Batch batch;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOO:event_batch", const_cast<char**>(names),
                                   &batch.rows, &batch.kind, &batch.ordering, &batch.scope,
                                   &batch.time_domain)) {
    return nullptr;
  }
  try {
    return event_batch(*reinterpret_cast<DomainObject*>(domain)->core, batch);
  } catch (const std::bad_alloc&) {
    return PyErr_NoMemory();
  }
}

PyObject* domain_get_scope_id(PyObject* domain, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"path", "parent", nullptr};
  PyObject* given = nullptr;
  PyObject* parent = Py_None;
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$O:get_scope_id", const_cast<char**>(names),
                                   &given, &parent)) {
    return nullptr;
  }
  py_ref path;
  uint64_t above = 0;
  if (!PyUnicode_Check(given) && !PyBytes_Check(given)) {
    return PyErr_Format(PyExc_TypeError, "path must be a str or bytes, not %R", given);
  }
  if (scope_from_object(given, path, above) < 0) return nullptr;
  if (parent != Py_None && number_of_choice(parent, "parent", above) < 0) return nullptr;
  annotate::Domain& core = *reinterpret_cast<DomainObject*>(domain)->core;
  return PyLong_FromUnsignedLongLong(
      annotate::scope_id(core, PyBytes_AS_STRING(path.get()), above));
}

PyObject* domain_get_timestamp(PyObject*, PyObject*) {
  return PyLong_FromLongLong(annotate::tool_timestamp());
}

PyObject* domain_get_counter(PyObject* domain, PyObject* args, PyObject* kwargs) {
  PyObject* function = python_hook(&PythonHooks::get_counter);
  py_ref first = py_ref::steal(PyTuple_Pack(1, domain));
  if (!function || !first) return nullptr;
  py_ref all = py_ref::steal(PySequence_Concat(first.get(), args));
  return all ? PyObject_Call(function, all.get(), kwargs) : nullptr;
}

}  // namespace nvspan::bindings
