// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/counter/event_batch.hpp"

#include <new>

#include "annotate/payload/counters.hpp"
#include "bindings/counter/object.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/payload/numpy.hpp"
#include "bindings/support/python_hooks.hpp"

namespace nvspan::bindings {

PyObject* domain_event_batch(PyObject* domain, PyObject* args, PyObject* kwargs) {
  static const char* const names[] = {"rows", "kind", "ordering", "scope", "time_domain", nullptr};
  PyObject* rows = nullptr;
  PyObject* kind = Py_None;
  PyObject* ordering = Py_False;  // 0: sorted
  PyObject* scope = Py_None;
  PyObject* time_domain = Py_True;  // 1: the tool's
  if (!PyArg_ParseTupleAndKeywords(args, kwargs, "O|$OOOO:event_batch", const_cast<char**>(names),
                                   &rows, &kind, &ordering, &scope, &time_domain)) {
    return nullptr;
  }
  const py_ref batch = py_ref::steal(
      call_hook(&PythonHooks::event_batch, domain, rows, kind, ordering, scope, time_domain));
  PyObject *layout, *array;
  unsigned long long scope_id, flags;
  if (!batch || !PyArg_ParseTuple(batch.get(), "OOKK", &layout, &array, &scope_id, &flags)) {
    return nullptr;
  }
  try {
    const annotate::Schema* schema = schema_of_layout(layout);
    const ContiguousView view(schema ? array : nullptr);
    if (!view) return nullptr;
    annotate::submit_events(*reinterpret_cast<DomainObject*>(domain)->core,
                            {schema, view.data(), view.size()}, scope_id, flags);
    Py_RETURN_NONE;
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
