// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// `__enter__` and `__exit__` as two descriptors. Bound to an object they give a BoundMethod that
// lies inside it: its memory is the owner's, its first reference takes one of the owner's and its
// last gives that back, so that a `with` statement allocates nothing. Fetched from the class they
// are callables that take the owner first, as ExitStack calls them.

#include <cstddef>

#include "bindings/support/types.hpp"

namespace nvspan::bindings {

// A bound `__enter__` or `__exit__` that lives inside its owner. While its reference count is above
// zero it holds one reference to the owner.
struct BoundMethod {
  PyObject_HEAD vectorcallfunc vectorcall;
};

inline Py_ssize_t context_argument_count(size_t nargsf, PyObject* kwnames) noexcept {
  return PyVectorcall_NARGS(nargsf) + (kwnames ? PyTuple_GET_SIZE(kwnames) : 0);
}

struct ContextMethodTypes {
  PyTypeObject* descriptor;
  PyTypeObject* bound;
};

// The types of one descriptor and of its bound form, and all that they can do. Traits: the Owner,
// what it is called, the method's name, where in the owner its BoundMethod lies, and what it does.
template <class Traits>
struct ContextMethod {
  using Owner = typename Traits::Owner;
  static ContextMethodTypes types;

  static Owner* owner(PyObject* bound) noexcept {
    return reinterpret_cast<Owner*>(reinterpret_cast<char*>(bound) - Traits::offset);
  }

  static PyObject* call_bound(PyObject* bound, PyObject* const*, size_t nargsf, PyObject* kwnames) {
    return Traits::call(owner(bound), context_argument_count(nargsf, kwnames));
  }

  static PyObject* call_bound_slow(PyObject* bound, PyObject* args, PyObject* kwargs) {
    return Traits::call(owner(bound),
                        PyTuple_GET_SIZE(args) + (kwargs ? PyDict_GET_SIZE(kwargs) : 0));
  }

  static PyObject* call_unbound(PyObject*, PyObject* const* args, size_t nargsf,
                                PyObject* kwnames) {
    const Py_ssize_t count = context_argument_count(nargsf, kwnames);
    if (PyVectorcall_NARGS(nargsf) < 1 || !Traits::is_owner(args[0])) {
      return PyErr_Format(PyExc_TypeError, "%s.%s needs %s object first", Traits::type,
                          Traits::name, Traits::object);
    }
    return Traits::call(reinterpret_cast<Owner*>(args[0]), count - 1);
  }

  static PyObject* get(PyObject* descriptor, PyObject* object, PyObject*) {
    if (!object) return Py_NewRef(descriptor);
#ifdef Py_GIL_DISABLED
    return PyMethod_New(descriptor, object);
#else
    PyObject* bound = reinterpret_cast<PyObject*>(reinterpret_cast<char*>(object) + Traits::offset);
    if (Py_REFCNT(bound) == 0) {
      Py_INCREF(object);
      Py_SET_REFCNT(bound, 1);
    } else {
      Py_INCREF(bound);
    }
    return bound;
#endif
  }

  static void bound_dealloc(PyObject* bound) {
    Py_DECREF(reinterpret_cast<PyObject*>(owner(bound)));
  }

  static PyObject* bound_self(PyObject* bound, void*) {
    return Py_NewRef(reinterpret_cast<PyObject*>(owner(bound)));
  }

  static PyObject* get_name(PyObject*, void*) { return PyUnicode_FromString(Traits::name); }

  static PyObject* bound_repr(PyObject* bound) {
    return PyUnicode_FromFormat("<bound method %s of %R>", Traits::name,
                                reinterpret_cast<PyObject*>(owner(bound)));
  }

  static int make_types() {
    static PyGetSetDef descriptor_properties[] = {{"__name__", get_name, nullptr, nullptr, nullptr},
                                                  {nullptr, nullptr, nullptr, nullptr, nullptr}};
    static PyGetSetDef bound_properties[] = {{"__self__", bound_self, nullptr, nullptr, nullptr},
                                             {"__name__", get_name, nullptr, nullptr, nullptr},
                                             {nullptr, nullptr, nullptr, nullptr, nullptr}};
    constexpr unsigned flags = Py_TPFLAGS_HAVE_VECTORCALL | Py_TPFLAGS_DISALLOW_INSTANTIATION;
    types.descriptor = make_type("nvspan._core.context_method", sizeof(BoundMethod),
                                 flags | Py_TPFLAGS_METHOD_DESCRIPTOR,
                                 {{Py_tp_descr_get, slot(get)},
                                  {Py_tp_call, slot(PyVectorcall_Call)},
                                  {Py_tp_members, vectorcall_members<BoundMethod>},
                                  {Py_tp_getset, descriptor_properties}});
    types.bound = make_type("nvspan._core.bound_context_method", sizeof(BoundMethod), flags,
                            {{Py_tp_call, slot(call_bound_slow)},
                             {Py_tp_dealloc, slot(bound_dealloc)},
                             {Py_tp_repr, slot(bound_repr)},
                             {Py_tp_members, vectorcall_members<BoundMethod>},
                             {Py_tp_getset, bound_properties}});
    return types.descriptor && types.bound ? 0 : -1;
  }

  static int add_to(PyTypeObject* type) {
    if (make_types() < 0) return -1;
    BoundMethod* descriptor = PyObject_New(BoundMethod, types.descriptor);
    if (!descriptor) return -1;
    descriptor->vectorcall = call_unbound;
    const int result = PyObject_SetAttrString(reinterpret_cast<PyObject*>(type), Traits::name,
                                              reinterpret_cast<PyObject*>(descriptor));
    Py_DECREF(reinterpret_cast<PyObject*>(descriptor));
    return result;
  }

  static void init_bound(BoundMethod& bound) noexcept {
    PyObject* object = reinterpret_cast<PyObject*>(&bound);
    // All zeros first, the reference count with it: from CPython 3.12 on Py_SET_REFCNT leaves a
    // count alone that looks like an immortal object's, as what lay in this memory before may.
    bound = BoundMethod{};
    Py_SET_TYPE(object, types.bound);
    bound.vectorcall = call_bound;
  }
};

template <class Traits>
ContextMethodTypes ContextMethod<Traits>::types{};

// What `__enter__` and `__exit__` of all types have in common. Methods: the Owner, whose members
// `enter` and `exit` are the BoundMethods; `type` and `object`, what it is called; is_owner();
// enter() and exit().
template <class Methods>
struct EnterTraits : Methods {
  using Owner = typename Methods::Owner;
  static constexpr const char* name = "__enter__";
  static constexpr size_t offset = offsetof(Owner, enter);
  static PyObject* call(Owner* owner, Py_ssize_t arguments) {
    if (arguments != 0) {
      return PyErr_Format(PyExc_TypeError, "__enter__() takes no arguments (%zd given)", arguments);
    }
    return Methods::enter(owner);
  }
};

template <class Methods>
struct ExitTraits : Methods {
  using Owner = typename Methods::Owner;
  static constexpr const char* name = "__exit__";
  static constexpr size_t offset = offsetof(Owner, exit);
  static PyObject* call(Owner* owner, Py_ssize_t arguments) {
    if (arguments != 3) {
      return PyErr_Format(PyExc_TypeError, "__exit__() takes 3 arguments (%zd given)", arguments);
    }
    return Methods::exit(owner);
  }
};

// Gives `type` its __enter__ and __exit__. 0, or -1 with an exception set.
template <class Methods>
int add_context_methods(PyTypeObject* type) {
  if (ContextMethod<EnterTraits<Methods>>::add_to(type) < 0) return -1;
  return ContextMethod<ExitTraits<Methods>>::add_to(type);
}

// For a new owner.
template <class Methods>
void init_bound_methods(typename Methods::Owner* owner) noexcept {
  ContextMethod<EnterTraits<Methods>>::init_bound(owner->enter);
  ContextMethod<ExitTraits<Methods>>::init_bound(owner->exit);
}

}  // namespace nvspan::bindings
