// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/decorated_site.hpp"

#include "bindings/annotate_object.hpp"
#include "bindings/decorated_resume.hpp"
#include "bindings/decorated_span.hpp"
#include "bindings/module_state.hpp"

#include <frameobject.h>

namespace nvspan {
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

// A function equal to the original one. Defaults are not needed: the caller passes every argument.
py_ref make_callee(const Site* site) {
  if (py_ref function = weak_target(site->function)) {
    auto* decorated = reinterpret_cast<PyFunctionObject*>(function.get());
    py_ref made = py_ref::steal(PyFunction_NewWithQualName(
        site->original_code, decorated->func_globals, decorated->func_qualname));
    if (!made) return {};
    auto* callee = reinterpret_cast<PyFunctionObject*>(made.get());
    Py_INCREF(decorated->func_name);
    Py_XSETREF(callee->func_name, decorated->func_name);
    if (decorated->func_closure != nullptr &&
        PyFunction_SetClosure(made.get(), decorated->func_closure) < 0) {
      return {};
    }
    return made;
  }
  py_ref frame = current_frame();
  if (!frame) {
    PyErr_SetString(PyExc_ReferenceError, "the decorated function is gone");
    return {};
  }
  py_ref globals = py_ref::steal(PyObject_GetAttrString(frame.get(), "f_globals"));
  py_ref closure = closure_of_frame(frame.get(), site->original_code);
  if (!globals || !closure) return {};
  py_ref made = py_ref::steal(PyFunction_New(site->original_code, globals.get()));
  if (made && PyTuple_GET_SIZE(closure.get()) > 0 &&
      PyFunction_SetClosure(made.get(), closure.get()) < 0) {
    return {};
  }
  return made;
}

inline PyObject* callee(const Site* site) {
  py_ref wrapped = weak_target(site->wrapped);
  return wrapped ? wrapped.release() : make_callee(site).release();
}

// Opens the range, then answers the function to call. It opens even if the second step fails: the
// generated code runs EXIT in any case.
PyObject* site_enter(PyObject* self, PyObject* const*, Py_ssize_t) {
  const Site* site = as_site(self);
  if (site->annotation != nullptr) {
    annotation_push(site->annotation);
  } else if (py_ref annotation = site_annotation(site)) {
    annotation_push(annotation.get());
  }
  return callee(site);
}

PyObject* site_exit(PyObject* self, PyObject* const*, Py_ssize_t) {
  const Site* site = as_site(self);
  if (site->annotation != nullptr) {
    annotation_pop(site->annotation);
  } else if (py_ref annotation = site_annotation(site)) {
    annotation_pop(annotation.get());
  }
  Py_RETURN_NONE;
}

PyObject* site_callee(PyObject* self, PyObject* const*, Py_ssize_t) {
  return callee(as_site(self));
}

PyObject* site_start(PyObject* self, PyObject* const*, Py_ssize_t) {
  return open_span_new(site_annotation(as_site(self)).get());
}

PyObject* site_resume_nested(PyObject* self, PyObject* inner) {
  return resumer_new(site_annotation(as_site(self)).get(), inner, false);
}

PyObject* site_resume_span(PyObject* self, PyObject* inner) {
  return resumer_new(site_annotation(as_site(self)).get(), inner, true);
}

// Serialisers that take functions by value meet the builtins, and through them their Site.
PyObject* site_reduce(PyObject* self, PyObject*) {
  py_ref annotation = site_annotation(as_site(self));
  return Py_BuildValue("O(OO)", Py_TYPE(self), annotation ? annotation.get() : Py_None,
                       as_site(self)->original_code);
}

PyObject* site_new_detached(PyTypeObject*, PyObject* arguments, PyObject*) {
  PyObject* annotation;
  PyObject* code;
  if (!PyArg_ParseTuple(arguments, "OO!:_Site", &annotation, &PyCode_Type, &code)) return nullptr;
  if (annotation != Py_None && !PyObject_TypeCheck(annotation, state().annotate_type)) {
    PyErr_SetString(PyExc_TypeError, "_Site() takes an annotate object or None");
    return nullptr;
  }
  return reinterpret_cast<PyObject*>(
      site_new(annotation == Py_None ? nullptr : annotation, code, nullptr, nullptr));
}

void site_dealloc(PyObject* self) {
  Site* site = as_site(self);
  PyTypeObject* type = Py_TYPE(self);
  Py_XDECREF(site->annotation);
  Py_XDECREF(site->weak_annotation);
  Py_XDECREF(site->original_code);
  Py_XDECREF(site->function);
  Py_XDECREF(site->wrapped);
  type->tp_free(self);
  Py_DECREF(type);
}

PyMethodDef site_methods[] = {
    {"enter", as_method(site_enter), METH_FASTCALL, nullptr},
    {"exit", as_method(site_exit), METH_FASTCALL, nullptr},
    {"callee", as_method(site_callee), METH_FASTCALL, nullptr},
    {"start", as_method(site_start), METH_FASTCALL, nullptr},
    {"resume_nested", site_resume_nested, METH_O, nullptr},
    {"resume_span", site_resume_span, METH_O, nullptr},
    {"__reduce__", site_reduce, METH_NOARGS, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

PyType_Slot site_slots[] = {
    {Py_tp_doc, const_cast<char*>("What the generated code of a decorated function calls.")},
    {Py_tp_new, reinterpret_cast<void*>(site_new_detached)},
    {Py_tp_dealloc, reinterpret_cast<void*>(site_dealloc)},
    {Py_tp_methods, site_methods},
    {0, nullptr},
};

PyType_Spec site_spec = {"nvspan._core._Site", sizeof(Site), 0, Py_TPFLAGS_DEFAULT, site_slots};

PyTypeObject* site_type = nullptr;  // one for the process, as ModuleState

// Sets *found if the object that is visited could lead to a function: whatever the collector
// tracks, but for types and domains.
int visit_owner(PyObject* object, void* found) {
  if (PyObject_GC_IsTracked(object) && !PyType_Check(object) &&
      Py_TYPE(object) != state().domain_type) {
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
  auto* site = as_site(site_type->tp_alloc(site_type, 0));
  if (site == nullptr) return nullptr;
  site->annotation = py_ref::borrow(annotation).release();
  site->weak_annotation = weak_annotation.release();
  site->original_code = py_ref::borrow(original_code).release();
  site->function = weak_function.release();
  site->wrapped = weak_wrapped.release();
  return site;
}

bool code_calls_site(PyObject* code, const Site* site) noexcept {
  PyObject* constants = reinterpret_cast<PyCodeObject*>(code)->co_consts;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(constants); ++i) {
    PyObject* constant = PyTuple_GET_ITEM(constants, i);
    if (PyCFunction_Check(constant) &&
        PyCFunction_GET_SELF(constant) == reinterpret_cast<const PyObject*>(site)) {
      return true;
    }
  }
  return false;
}

int decorated_site_add_to_module(PyObject* module) {
  PyObject* type = PyType_FromModuleAndSpec(module, &site_spec, nullptr);
  if (type == nullptr) return -1;
  site_type = reinterpret_cast<PyTypeObject*>(type);
  return PyModule_AddObjectRef(module, "_Site", type);
}

}  // namespace nvspan
