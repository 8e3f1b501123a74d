// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/range/range_handle.hpp"

#include <atomic>

#include "annotate/layers/check.hpp"
#include "bindings/check/host.hpp"
#include "bindings/event/domain_object.hpp"
#include "bindings/support/free_list.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {

namespace {

struct RangeHandle {
  PyObject_HEAD uint64_t id;
  std::atomic<uint64_t> epoch;  // 0: nothing to end
  PyObject* domain;             // borrowed, immortal
};

RangeHandle* as_handle(PyObject* object) noexcept { return reinterpret_cast<RangeHandle*>(object); }

FreeList<RangeHandle, 64> free_handles;

void handle_dealloc(PyObject* object) {
  if (free_handles.keep(as_handle(object))) return;
  free_object(object);
}

PyObject* handle_as_tuple(PyObject* object) {
  return Py_BuildValue("(KO)", static_cast<unsigned long long>(as_handle(object)->id),
                       as_handle(object)->domain);
}

PyObject* handle_iter(PyObject* object) {
  py_ref tuple = py_ref::steal(handle_as_tuple(object));
  return tuple ? PyObject_GetIter(tuple.get()) : nullptr;
}

Py_ssize_t handle_length(PyObject*) { return 2; }

PyObject* handle_item(PyObject* object, PyObject* index) {
  py_ref tuple = py_ref::steal(handle_as_tuple(object));
  return tuple ? PyObject_GetItem(tuple.get(), index) : nullptr;
}

PyObject* handle_repr(PyObject* object) {
  return PyUnicode_FromFormat("RangeHandle(%llu, %R)",
                              static_cast<unsigned long long>(as_handle(object)->id),
                              as_handle(object)->domain);
}

PyObject* handle_compare(PyObject* object, PyObject* other, int operation) {
  if (operation != Py_EQ && operation != Py_NE) Py_RETURN_NOTIMPLEMENTED;
  py_ref tuple = py_ref::steal(handle_as_tuple(object));
  if (!tuple) return nullptr;
  if (Py_TYPE(other) == Py_TYPE(object)) {
    py_ref other_tuple = py_ref::steal(handle_as_tuple(other));
    return other_tuple ? PyObject_RichCompare(tuple.get(), other_tuple.get(), operation) : nullptr;
  }
  return PyObject_RichCompare(tuple.get(), other, operation);
}

Py_hash_t handle_hash(PyObject* object) {
  py_ref tuple = py_ref::steal(handle_as_tuple(object));
  return tuple ? PyObject_Hash(tuple.get()) : -1;
}

// isinstance(handle, tuple): the type that start_range has in the nvtx package.
PyObject* handle_class(PyObject*, void*) {
  return Py_NewRef(reinterpret_cast<PyObject*>(&PyTuple_Type));
}

PyGetSetDef range_handle_properties[] = {{"__class__", handle_class, nullptr, nullptr, nullptr},
                                         {nullptr, nullptr, nullptr, nullptr, nullptr}};

const char range_handle_documentation[] =
    "What start_range returns and end_range takes. Unpacks as (range_id, domain); the id is 0 "
    "when\n"
    "no tool listened. May be passed to any thread of the process.";

// A pair of the nvtx package's shape: only the types are checked, the range is nobody's.
int check_foreign(PyObject* handle) {
  PyObject* id = PyTuple_GET_ITEM(handle, 0);
  PyObject* domain = PyTuple_GET_ITEM(handle, 1);
  if (!PyLong_Check(id)) {
    PyErr_Format(PyExc_TypeError, "range_id must be a handle from start_range or None, not %R",
                 handle);
    return -1;
  }
  (void)PyLong_AsUnsignedLongLong(id);
  if (PyErr_Occurred()) return -1;
  if (domain != Py_None && !PyObject_TypeCheck(domain, state().event.domain_type)) {
    PyErr_Format(PyExc_TypeError, "range_id must be a handle from start_range or None, not %R",
                 handle);
    return -1;
  }
  return 0;
}

}  // namespace

PyObject* range_handle_new(const annotate::Span& span, PyObject* domain) {
  RangeHandle* handle = free_handles.take();
  if (!handle) {
    handle = PyObject_New(RangeHandle, state().range.handle_type);
    if (!handle) return nullptr;
  }
  handle->id = span.id;
  handle->epoch.store(span.epoch, std::memory_order_relaxed);
  handle->domain = domain;
  return reinterpret_cast<PyObject*>(handle);
}

int end_range_by_id(const annotate::Domain& domain, uint64_t id) {
  const annotate::ToolTable* tool = annotate::closing_tool();
  if (tool && id != 0 && domain.has_handle(tool->epoch.load(std::memory_order_acquire))) {
    return with_raising_checks([&] { annotate::send_end(domain, id, *tool); }) ? 0 : -1;
  }
  if (!annotate::checking()) return 0;
  return with_raising_checks([&] { annotate::check::end_again(id, domain); }) ? 0 : -1;
}

int end_range_handle(PyObject* handle) {
  if (Py_IS_TYPE(handle, state().range.handle_type)) {
    RangeHandle* own = as_handle(handle);
    if (own->epoch.load(std::memory_order_relaxed) == 0) {
      if (!annotate::checking() || own->id == 0) return 0;
      const annotate::Domain& core = *reinterpret_cast<DomainObject*>(own->domain)->core;
      return with_raising_checks([&] { annotate::check::end_again(own->id, core); }) ? 0 : -1;
    }
    const uint64_t epoch = own->epoch.exchange(0);
    annotate::end_span({own->id, epoch, reinterpret_cast<DomainObject*>(own->domain)->core});
    return 0;
  }
  if (handle == Py_None) return 0;
  const py_ref pair = PyTuple_Check(handle) || PyList_Check(handle)
                          ? py_ref::steal(PySequence_Tuple(handle))
                          : py_ref();
  if (pair && PyTuple_GET_SIZE(pair.get()) == 2) {
    if (check_foreign(pair.get()) < 0) return -1;
    PyObject* domain = PyTuple_GET_ITEM(pair.get(), 1);
    if (domain == Py_None) return 0;
    return end_range_by_id(*reinterpret_cast<DomainObject*>(domain)->core,
                           PyLong_AsUnsignedLongLong(PyTuple_GET_ITEM(pair.get(), 0)));
  }
  if (PyErr_Occurred()) return -1;
  PyErr_Format(PyExc_TypeError, "range_id must be a handle from start_range or None, not %R",
               handle);
  return -1;
}

int range_handle_add_to_module(PyObject* module) {
  state().range.handle_type =
      make_type("nvspan.RangeHandle", sizeof(RangeHandle), Py_TPFLAGS_DISALLOW_INSTANTIATION,
                {{Py_tp_dealloc, slot(handle_dealloc)},
                 {Py_tp_iter, slot(handle_iter)},
                 {Py_tp_repr, slot(handle_repr)},
                 {Py_tp_richcompare, slot(handle_compare)},
                 {Py_tp_hash, slot(handle_hash)},
                 {Py_mp_length, slot(handle_length)},
                 {Py_mp_subscript, slot(handle_item)},
                 {Py_tp_getset, range_handle_properties},
                 {Py_tp_doc, const_cast<char*>(range_handle_documentation)}});
  return add_type(module, state().range.handle_type);
}

}  // namespace nvspan::bindings
