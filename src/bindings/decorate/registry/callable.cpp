// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/decorate/registry/callable.hpp"

#include <cstring>

#include "bindings/annotation/annotation.hpp"
#include "bindings/check/host.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"

namespace nvspan::bindings {
namespace {

struct AnnotatedCallable {
  PyObject_HEAD vectorcallfunc vectorcall;
  PyObject* wrapped;
  PyObject* annotation;
  PyObject* call;  // what a call runs in place of `wrapped`, already decorated; or null
  PyObject* weak_references;
  bool as_span;
};

AnnotatedCallable* as_callable(PyObject* object) noexcept {
  return reinterpret_cast<AnnotatedCallable*>(object);
}

bool is_callable_proxy(PyObject* object) noexcept {
  return PyObject_TypeCheck(object, state().decorate.callable_type);
}

PyObject* call(PyObject* self, PyObject* const* arguments, size_t count, PyObject* names) {
  AnnotatedCallable* proxy = as_callable(self);
  if (proxy->call != nullptr) return PyObject_Vectorcall(proxy->call, arguments, count, names);
  py_ref annotation = py_ref::borrow(proxy->annotation);
  py_ref wrapped = py_ref::borrow(proxy->wrapped);
  const bool as_span = proxy->as_span;
  annotate::Span span{};
  if (as_span) {
    span = annotation_start(annotation.get());
  } else {
    annotation_push(annotation.get());
  }
  PyObject* result = PyObject_Vectorcall(wrapped.get(), arguments, count, names);
  return closed_result(result,
                       [&] { as_span ? span_end(span) : annotation_pop(annotation.get()); });
}

PyObject* callable_new(PyTypeObject* type, PyObject* arguments, PyObject*) {
  PyObject *wrapped, *annotation;
  int as_span = 0;
  PyObject* replacement = Py_None;
  if (!PyArg_ParseTuple(arguments, "OO!|pO:AnnotatedCallable", &wrapped, state().annotation.type,
                        &annotation, &as_span, &replacement)) {
    return nullptr;
  }
  AnnotatedCallable* proxy = as_callable(type->tp_alloc(type, 0));
  if (proxy == nullptr) return nullptr;
  proxy->vectorcall = call;
  proxy->wrapped = py_ref::borrow(wrapped).release();
  proxy->annotation = py_ref::borrow(annotation).release();
  proxy->as_span = as_span != 0;
  if (replacement != Py_None) proxy->call = py_ref::borrow(replacement).release();
  return reinterpret_cast<PyObject*>(proxy);
}

// Names that are the proxy's own; everything else is the wrapped object's.
bool is_own_name(PyObject* name) noexcept {
  static constexpr const char* own[] = {"__wrapped__",   "__call__",     "__get__",
                                        "__copy__",      "__deepcopy__", "__reduce__",
                                        "__reduce_ex__", "_nvspan_parts"};
  const char* text = PyUnicode_Check(name) ? PyUnicode_AsUTF8(name) : nullptr;
  if (text == nullptr) {
    PyErr_Clear();
    return false;
  }
  if (text[0] != '_') return false;
  for (const char* candidate : own) {
    if (std::strcmp(candidate, text) == 0) return true;
  }
  return false;
}

PyObject* get_attribute(PyObject* self, PyObject* name) {
  if (is_own_name(name)) return PyObject_GenericGetAttr(self, name);
  return PyObject_GetAttr(as_callable(self)->wrapped, name);
}

int set_attribute(PyObject* self, PyObject* name, PyObject* value) {
  return PyObject_SetAttr(as_callable(self)->wrapped, name, value);
}

// Binds as the wrapped object does: to a method of the proxy where it makes a method of itself.
PyObject* bind(PyObject* self, PyObject* instance, PyObject* owner) {
  AnnotatedCallable* proxy = as_callable(self);
  descrgetfunc get = Py_TYPE(proxy->wrapped)->tp_descr_get;
  if (get == nullptr) return Py_NewRef(self);
  py_ref bound = py_ref::steal(get(proxy->wrapped, instance, owner));
  if (!bound) return nullptr;
  if (bound.get() == proxy->wrapped) return Py_NewRef(self);
  if (PyMethod_Check(bound.get()) && PyMethod_GET_FUNCTION(bound.get()) == proxy->wrapped) {
    return PyMethod_New(self, PyMethod_GET_SELF(bound.get()));
  }
  if (!PyCallable_Check(bound.get())) return bound.release();
  PyObject* parts[] = {bound.get(), proxy->annotation, proxy->as_span ? Py_True : Py_False};
  return PyObject_Vectorcall(reinterpret_cast<PyObject*>(Py_TYPE(self)), parts, 3, nullptr);
}

PyObject* text_of(PyObject* self) { return PyObject_Repr(as_callable(self)->wrapped); }

PyObject* string_of(PyObject* self) { return PyObject_Str(as_callable(self)->wrapped); }

Py_hash_t hash_of(PyObject* self) { return PyObject_Hash(as_callable(self)->wrapped); }

PyObject* compare(PyObject* self, PyObject* other, int operation) {
  if (self == other && operation == Py_EQ) Py_RETURN_TRUE;
  if (is_callable_proxy(other)) other = as_callable(other)->wrapped;
  return PyObject_RichCompare(as_callable(self)->wrapped, other, operation);
}

PyObject* copied(PyObject* self, PyObject*) { return call_hook(&PythonHooks::copy_callable, self); }

PyObject* deeply_copied(PyObject* self, PyObject* memo) {
  return call_hook(&PythonHooks::copy_callable, self, memo);
}

PyObject* reduced(PyObject* self, PyObject*) {
  return call_hook(&PythonHooks::reduce_callable, self);
}

PyObject* get_wrapped(PyObject* self, void*) { return Py_NewRef(as_callable(self)->wrapped); }

// (wrapped, annotation, as_span, call): what the type is called with.
PyObject* get_parts(PyObject* self, void*) {
  AnnotatedCallable* proxy = as_callable(self);
  return Py_BuildValue("OOOO", proxy->wrapped, proxy->annotation,
                       proxy->as_span ? Py_True : Py_False,
                       proxy->call != nullptr ? proxy->call : Py_None);
}

int traverse(PyObject* self, visitproc visit, void* arg) {
  AnnotatedCallable* proxy = as_callable(self);
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(proxy->wrapped);
  Py_VISIT(proxy->annotation);
  Py_VISIT(proxy->call);
  return 0;
}

// A cleared proxy stays usable: what else is collected with it may still ask it something.
int clear(PyObject* self) {
  AnnotatedCallable* proxy = as_callable(self);
  if (proxy->wrapped != Py_None) Py_XSETREF(proxy->wrapped, Py_NewRef(Py_None));
  Py_CLEAR(proxy->call);
  return 0;
}

void dealloc(PyObject* self) {
  AnnotatedCallable* proxy = as_callable(self);
  PyObject_GC_UnTrack(self);
  if (proxy->weak_references != nullptr) PyObject_ClearWeakRefs(self);
  Py_CLEAR(proxy->wrapped);
  Py_CLEAR(proxy->annotation);
  Py_CLEAR(proxy->call);
  free_object(self);
}

PyMemberDef callable_members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(AnnotatedCallable, vectorcall), READONLY,
     nullptr},
    {"__weaklistoffset__", T_PYSSIZET, offsetof(AnnotatedCallable, weak_references), READONLY,
     nullptr},
    {nullptr, 0, 0, 0, nullptr},
};

PyGetSetDef callable_properties[] = {
    {"__wrapped__", get_wrapped, nullptr, nullptr, nullptr},
    {"_nvspan_parts", get_parts, nullptr, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr},
};

PyMethodDef callable_methods[] = {
    {"__copy__", copied, METH_NOARGS, nullptr},
    {"__deepcopy__", deeply_copied, METH_O, nullptr},
    {"__reduce__", reduced, METH_NOARGS, nullptr},
    {"__reduce_ex__", reduced, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr},
};

}  // namespace

int decorated_callable_add_to_module(PyObject* module) {
  static constexpr char doc[] = "A callable that opens a range around each call.";
  state().decorate.callable_type =
      make_type("nvspan._core.AnnotatedCallable", sizeof(AnnotatedCallable),
                Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL,
                {{Py_tp_doc, const_cast<char*>(doc)},
                 {Py_tp_new, slot(callable_new)},
                 {Py_tp_call, slot(PyVectorcall_Call)},
                 {Py_tp_getattro, slot(get_attribute)},
                 {Py_tp_setattro, slot(set_attribute)},
                 {Py_tp_descr_get, slot(bind)},
                 {Py_tp_repr, slot(text_of)},
                 {Py_tp_str, slot(string_of)},
                 {Py_tp_hash, slot(hash_of)},
                 {Py_tp_richcompare, slot(compare)},
                 {Py_tp_members, callable_members},
                 {Py_tp_getset, callable_properties},
                 {Py_tp_methods, callable_methods},
                 {Py_tp_traverse, slot(traverse)},
                 {Py_tp_clear, slot(clear)},
                 {Py_tp_dealloc, slot(dealloc)}});
  return add_type(module, state().decorate.callable_type);
}

}  // namespace nvspan::bindings
