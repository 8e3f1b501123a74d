// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/decorate/registry/site.hpp"

#include "bindings/annotation/annotation.hpp"
#include "bindings/check/host.hpp"
#include "bindings/decorate/registry/site_table.hpp"
#include "bindings/decorate/runtime/builtins.hpp"
#include "bindings/decorate/runtime/recursion.hpp"
#include "bindings/decorate/suspended/resume.hpp"
#include "bindings/decorate/suspended/span.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

#include <frameobject.h>

#include <cstring>

namespace nvspan::bindings {
namespace {

constexpr const char* annotation_key = "__nvspan_annotation__";

Site* as_site(PyObject* object) noexcept { return reinterpret_cast<Site*>(object); }

// The frame whose code is running: builtins have none of their own.
py_ref current_frame() { return py_ref::borrow(reinterpret_cast<PyObject*>(PyEval_GetFrame())); }

// The closure of the function that the current frame runs, for a function that is already gone or
// was never known. From 3.11 on a frame owns its function, so that only an unpickled copy gets
// here: its cells are made from the present values.
py_ref closure_of_frame(PyObject* frame, PyObject* code) {
  py_ref names = py_ref::steal(PyObject_GetAttrString(code, "co_freevars"));
  if (!names) return {};
  const Py_ssize_t count = PyTuple_GET_SIZE(names.get());
  py_ref closure = py_ref::steal(PyTuple_New(count));
  if (!closure || count == 0) return closure;
#if PY_VERSION_HEX < 0x030B0000
  auto* native = reinterpret_cast<PyFrameObject*>(frame);
  auto* running = reinterpret_cast<PyCodeObject*>(native->f_code);
  PyObject** cells =
      native->f_localsplus + running->co_nlocals + PyTuple_GET_SIZE(running->co_cellvars);
  for (Py_ssize_t i = 0; i < count; ++i) {
    Py_INCREF(cells[i]);
    PyTuple_SET_ITEM(closure.get(), i, cells[i]);
  }
#else
  py_ref locals = py_ref::steal(PyObject_GetAttrString(frame, "f_locals"));
  if (!locals) return {};
  for (Py_ssize_t i = 0; i < count; ++i) {
    py_ref value = py_ref::steal(PyObject_GetItem(locals.get(), PyTuple_GET_ITEM(names.get(), i)));
    if (!value) PyErr_Clear();
    PyObject* cell = PyCell_New(value.get());
    if (cell == nullptr) return {};
    PyTuple_SET_ITEM(closure.get(), i, cell);
  }
#endif
  return closure;
}

// A function equal to the original one, for the decorated function or for the one that runs in the
// current frame. Defaults are not needed: the caller passes every argument.
py_ref make_callee_of_function(const Site* site, PyFunctionObject* decorated) {
  py_ref copy = py_ref::steal(PyFunction_NewWithQualName(
      site->original_code, decorated->func_globals, decorated->func_qualname));
  if (!copy) return {};
  auto* callee = reinterpret_cast<PyFunctionObject*>(copy.get());
  Py_INCREF(decorated->func_name);
  Py_XSETREF(callee->func_name, decorated->func_name);
  if (decorated->func_closure != nullptr &&
      PyFunction_SetClosure(copy.get(), decorated->func_closure) < 0) {
    return {};
  }
  return copy;
}

py_ref make_callee_of_frame(const Site* site, PyObject* frame, PyObject* globals) {
  py_ref closure = closure_of_frame(frame, site->original_code);
  if (!closure) return {};
  py_ref copy = py_ref::steal(PyFunction_New(site->original_code, globals));
  if (copy && PyTuple_GET_SIZE(closure.get()) > 0 &&
      PyFunction_SetClosure(copy.get(), closure.get()) < 0) {
    return {};
  }
  return copy;
}

py_ref make_callee(const Site* site) {
  py_ref function = weak_target(site->function);
  auto* decorated = reinterpret_cast<PyFunctionObject*>(function.get());
  if (function && !site->copied) return make_callee_of_function(site, decorated);
  py_ref frame = current_frame();
  if (!frame) {
    PyErr_SetString(PyExc_ReferenceError, "the decorated function no longer exists");
    return {};
  }
  py_ref globals = py_ref::steal(PyObject_GetAttrString(frame.get(), "f_globals"));
  if (!globals) return {};
  // A copy made by value has globals of its own.
  if (!function || globals.get() != decorated->func_globals) {
    return make_callee_of_frame(site, frame.get(), globals.get());
  }
  py_ref wrapped = weak_target(site->wrapped);
  return wrapped ? std::move(wrapped) : make_callee_of_function(site, decorated);
}

inline PyObject* callee(const Site* site) {
  if (!site->copied) {
    if (py_ref wrapped = weak_target(site->wrapped)) return wrapped.release();
  }
  return make_callee(site).release();
}

// The Site that generated code names, which that code keeps alive; null with an exception set.
inline Site* site_of(PyObject* key) {
  int64_t number;
  if (PyBytes_CheckExact(key) && PyBytes_GET_SIZE(key) == sizeof number) {
    std::memcpy(&number, PyBytes_AS_STRING(key), sizeof number);
    if (Site* site = find_site(number)) return site;
  }
  PyErr_Format(PyExc_LookupError, "no decorated function has the key %R", key);
  return nullptr;
}

// Opens the range, then answers the function to call. It opens even if the second step fails: the
// generated code runs `__nvspan_exit__` in any case.
PyObject* enter(PyObject*, PyObject* key) {
  const Site* site = site_of(key);
  if (site == nullptr) return nullptr;
  if (site->annotation != nullptr) {
    annotation_push(site->annotation);
  } else if (py_ref annotation = site_annotation(site)) {
    annotation_push(annotation.get());
  }
  return callee(site);
}

PyObject* checked_exit(const Site* site) {
  py_ref annotation = site_annotation(site);
  if (!annotation) Py_RETURN_NONE;
  if (!with_raising_checks([&] { annotation_pop(annotation.get()); })) return nullptr;
  Py_RETURN_NONE;
}

PyObject* exit(PyObject*, PyObject* key) {
  const Site* site = site_of(key);
  if (site == nullptr) return nullptr;
  if (annotate::checking()) return checked_exit(site);
  if (site->annotation != nullptr) {
    annotation_pop(site->annotation);
  } else if (py_ref annotation = site_annotation(site)) {
    annotation_pop(annotation.get());
  }
  Py_RETURN_NONE;
}

#if PY_VERSION_HEX < 0x030B0000
// call(KEY, ...): enters, calls with the rest of the arguments, leaves. One builtin call in place
// of two: on 3.10 they take 28 ns each, and every call takes C stack in any case.
PyObject* call_in_range(PyObject* const* arguments, Py_ssize_t count, PyObject* names,
                        bool as_span) {
  if (count < 1) {
    PyErr_SetString(PyExc_TypeError, "expected a key");
    return nullptr;
  }
  const Site* site = site_of(arguments[0]);
  if (site == nullptr) return nullptr;
  py_ref function = py_ref::steal(callee(site));
  if (!function) return nullptr;
  py_ref annotation = site_annotation(site);
  annotate::Span span{};
  if (annotation && as_span) {
    span = annotation_start(annotation.get());
  } else if (annotation) {
    annotation_push(annotation.get());
  }
  PyObject* result;
  {
    UncountedLevel uncounted;
    result =
        PyObject_Vectorcall(function.get(), arguments + 1,
                            static_cast<size_t>(count - 1) | PY_VECTORCALL_ARGUMENTS_OFFSET, names);
  }
  if (!annotation) return result;
  return closed_result(result,
                       [&] { as_span ? span_end(span) : annotation_pop(annotation.get()); });
}

PyObject* call_nested(PyObject*, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return call_in_range(arguments, count, names, false);
}

PyObject* call_span(PyObject*, PyObject* const* arguments, Py_ssize_t count, PyObject* names) {
  return call_in_range(arguments, count, names, true);
}
#endif

PyObject* callee_of(PyObject*, PyObject* key) {
  const Site* site = site_of(key);
  return site != nullptr ? callee(site) : nullptr;
}

PyObject* start(PyObject*, PyObject* key) {
  const Site* site = site_of(key);
  return site != nullptr ? open_span_new(site_annotation(site).get()) : nullptr;
}

PyObject* drive(PyObject* const* arguments, Py_ssize_t count, bool as_span) {
  if (count != 2) {
    PyErr_SetString(PyExc_TypeError, "expected a key and an iterator");
    return nullptr;
  }
  const Site* site = site_of(arguments[0]);
  if (site == nullptr) return nullptr;
  return resumer_new(site_annotation(site).get(), arguments[1], as_span);
}

PyObject* drive_nested(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return drive(arguments, count, false);
}

PyObject* drive_span(PyObject*, PyObject* const* arguments, Py_ssize_t count) {
  return drive(arguments, count, true);
}

PyMethodDef site_functions[] = {
#if PY_VERSION_HEX < 0x030B0000
    {"__nvspan_call_nested__", as_method(call_nested), METH_FASTCALL | METH_KEYWORDS, nullptr},
    {"__nvspan_call_span__", as_method(call_span), METH_FASTCALL | METH_KEYWORDS, nullptr},
#endif
    {"__nvspan_enter__", enter, METH_O, nullptr},
    {"__nvspan_exit__", exit, METH_O, nullptr},
    {"__nvspan_callee__", callee_of, METH_O, nullptr},
    {"__nvspan_start__", start, METH_O, nullptr},
    {"__nvspan_drive_nested__", as_method(drive_nested), METH_FASTCALL, nullptr},
    {"__nvspan_drive_span__", as_method(drive_span), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

// ---- serialisation by value, and the type -------------------------------------------------------

PyObject* site_reduce(PyObject* self, PyObject*) {
  const Site* site = as_site(self);
  py_ref annotation = site_annotation(site);
  return Py_BuildValue("O(OOL)", Py_TYPE(self), annotation ? annotation.get() : Py_None,
                       site->original_code, static_cast<long long>(site->key));
}

PyObject* site_restored(PyTypeObject*, PyObject* arguments, PyObject*) {
  PyObject* annotation;
  PyObject* code;
  long long key;
  if (!PyArg_ParseTuple(arguments, "OO!L:_Site", &annotation, &PyCode_Type, &code, &key)) {
    return nullptr;
  }
  if (annotation != Py_None && !PyObject_TypeCheck(annotation, state().annotation.type)) {
    PyErr_SetString(PyExc_TypeError, "_Site() takes an annotate object or None");
    return nullptr;
  }
  if (Site* site = find_site(key)) {
    site->copied = true;
    return Py_NewRef(reinterpret_cast<PyObject*>(site));
  }
  auto* site = as_site(state().decorate.site_type->tp_alloc(state().decorate.site_type, 0));
  if (site == nullptr) return nullptr;
  if (annotation != Py_None) site->annotation = Py_NewRef(annotation);
  site->original_code = Py_NewRef(code);
  if (!register_restored_site(site, key)) {
    Py_DECREF(reinterpret_cast<PyObject*>(site));
    return PyErr_NoMemory();
  }
  return reinterpret_cast<PyObject*>(site);
}

void site_dealloc(PyObject* self) {
  Site* site = as_site(self);
  forget_site(site);
  Py_XDECREF(site->annotation);
  Py_XDECREF(site->weak_annotation);
  Py_XDECREF(site->original_code);
  Py_XDECREF(site->function);
  Py_XDECREF(site->wrapped);
  free_object(self);
}

PyMethodDef site_methods[] = {
    {"__reduce__", site_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyObject* site_key(PyObject* self, void*) {
  const int64_t key = as_site(self)->key;
  return PyBytes_FromStringAndSize(reinterpret_cast<const char*>(&key), sizeof key);
}

PyGetSetDef site_properties[] = {
    {"key", site_key, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

// Sets *found if the object that is visited could lead to a function: whatever the collector
// tracks, but for types and domains.
int visit_owner(PyObject* object, void* found) {
  if (PyObject_GC_IsTracked(object) && !PyType_Check(object) &&
      Py_TYPE(object) != state().event.domain_type) {
    *static_cast<bool*>(found) = true;
  }
  return 0;
}

// Whether the annotation can own a cycle through the function, as a `payload=` callable can.
bool may_lead_back(PyObject* annotation) {
  traverseproc traverse = Py_TYPE(annotation)->tp_traverse;
  bool found = false;
  if (traverse != nullptr) traverse(annotation, visit_owner, &found);
  return found;
}

}  // namespace

Site* site_new(PyObject* annotation, PyObject* original_code, PyObject* function,
               PyObject* wrapped) {
  py_ref weak_annotation, weak_function, weak_wrapped;
  if (function != nullptr) {
    weak_function = py_ref::steal(PyWeakref_NewRef(function, nullptr));
    if (!weak_function) return nullptr;
  }
  if (wrapped != nullptr) {
    weak_wrapped = py_ref::steal(PyWeakref_NewRef(wrapped, nullptr));
    if (!weak_wrapped) return nullptr;
  }
  if (function != nullptr && annotation != nullptr && may_lead_back(annotation)) {
    weak_annotation = py_ref::steal(PyWeakref_NewRef(annotation, nullptr));
    if (!weak_annotation || PyObject_SetAttrString(function, annotation_key, annotation) < 0) {
      return nullptr;
    }
    annotation = nullptr;
  }
  auto* site = as_site(state().decorate.site_type->tp_alloc(state().decorate.site_type, 0));
  if (site == nullptr) return nullptr;
  site->annotation = py_ref::borrow(annotation).release();
  site->weak_annotation = weak_annotation.release();
  site->original_code = py_ref::borrow(original_code).release();
  site->function = weak_function.release();
  site->wrapped = weak_wrapped.release();
  if (!register_site(site)) {
    Py_DECREF(reinterpret_cast<PyObject*>(site));
    PyErr_NoMemory();
    return nullptr;
  }
  return site;
}

bool code_calls_site(PyObject* code, const Site* site) noexcept {
  PyObject* constants = reinterpret_cast<PyCodeObject*>(code)->co_consts;
  for (Py_ssize_t i = PyTuple_GET_SIZE(constants) - 1; i >= 0; --i) {
    if (PyTuple_GET_ITEM(constants, i) == reinterpret_cast<const PyObject*>(site)) return true;
  }
  return false;
}

int decorated_site_add_to_module(PyObject* module) {
  static constexpr char doc[] = "What the generated code of a decorated function calls.";
  state().decorate.site_type = make_type("nvspan._core._Site", sizeof(Site), 0,
                                         {{Py_tp_doc, const_cast<char*>(doc)},
                                          {Py_tp_new, slot(site_restored)},
                                          {Py_tp_dealloc, slot(site_dealloc)},
                                          {Py_tp_methods, site_methods},
                                          {Py_tp_getset, site_properties}});
  if (add_type(module, state().decorate.site_type) < 0) return -1;
  return add_builtins(site_functions);
}

}  // namespace nvspan::bindings
