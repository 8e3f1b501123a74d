// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/backward_node.hpp"

#include <new>
#include <utility>

namespace nvspan {

namespace {

struct NodeHook {
  PyObject_HEAD BackwardRanges ending;  // before the node runs
  BackwardRanges beginning;
  BackwardRanges ended;  // after it
  bool before;           // registered
  bool after;
};

PyTypeObject* hook_type;
PyObject* name_key;
PyObject* name_metadata;
PyObject* name_register_prehook;
PyObject* name_register_hook;

NodeHook* as_hook(PyObject* object) noexcept { return reinterpret_cast<NodeHook*>(object); }

void before_node(NodeHook* hook, int64_t pass) {
  for (const auto& each : hook->ending) each->end_here(pass);
  // A module comes after the modules within it.
  for (auto each = hook->beginning.rbegin(); each != hook->beginning.rend(); ++each) {
    BackwardRange::begin(*each, pass);
  }
}

// torch calls a hook before the node with the gradients, one after it with those of both sides.
PyObject* hook_call(PyObject* object, PyObject* args, PyObject*) {
  NodeHook* hook = as_hook(object);
  const int64_t pass = current_pass();
  if (pass == no_pass) Py_RETURN_NONE;
  if (PyTuple_GET_SIZE(args) == 1) {
    before_node(hook, pass);
  } else {
    for (const auto& each : hook->ended) each->end_here(pass);
  }
  Py_RETURN_NONE;
}

void hook_dealloc(PyObject* object) {
  const py_error_scope scope;
  NodeHook* hook = as_hook(object);
  hook->ending.~BackwardRanges();
  hook->beginning.~BackwardRanges();
  hook->ended.~BackwardRanges();
  PyTypeObject* type = Py_TYPE(object);
  PyObject_Free(object);
  Py_DECREF(type);
}

PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(hook_dealloc)},
                       {Py_tp_call, reinterpret_cast<void*>(hook_call)},
                       {0, nullptr}};

PyType_Spec spec = {"nvspan._core.BackwardHook", sizeof(NodeHook), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_DISALLOW_INSTANTIATION, slots};

py_ref new_hook() {
  NodeHook* hook = PyObject_New(NodeHook, hook_type);
  if (!hook) return {};
  new (&hook->ending) BackwardRanges;
  new (&hook->beginning) BackwardRanges;
  new (&hook->ended) BackwardRanges;
  hook->before = hook->after = false;
  return py_ref::steal(reinterpret_cast<PyObject*>(hook));
}

// The node's hook, made if it has none.
py_ref hook_of(PyObject* node) {
  const py_ref metadata = py_ref::steal(PyObject_GetAttr(node, name_metadata));
  if (!metadata) return {};
  if (!PyDict_Check(metadata.get())) {
    PyErr_SetString(PyExc_TypeError, "a node's metadata is no dict");
    return {};
  }
  PyObject* known = PyDict_GetItemWithError(metadata.get(), name_key);
  if (known && Py_IS_TYPE(known, hook_type)) return py_ref::borrow(known);
  if (PyErr_Occurred()) return {};
  py_ref made = new_hook();
  if (!made || PyDict_SetItem(metadata.get(), name_key, made.get()) < 0) return {};
  return made;
}

int add(PyObject* node, BackwardRanges NodeHook::* list, bool NodeHook::* registered, PyObject* how,
        const std::shared_ptr<BackwardRange>& range) {
  const py_ref owned = hook_of(node);
  if (!owned) return -1;
  NodeHook* hook = as_hook(owned.get());
  if (!(hook->*registered)) {
    const py_ref handle = py_ref::steal(PyObject_CallMethodOneArg(node, how, owned.get()));
    if (!handle) return -1;
    hook->*registered = true;
  }
  try {
    (hook->*list).push_back(range);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
    return -1;
  }
  return 0;
}

}  // namespace

int begin_before(PyObject* node, const std::shared_ptr<BackwardRange>& range) {
  return add(node, &NodeHook::beginning, &NodeHook::before, name_register_prehook, range);
}

int end_before(PyObject* node, const std::shared_ptr<BackwardRange>& range) {
  return add(node, &NodeHook::ending, &NodeHook::before, name_register_prehook, range);
}

int end_after(PyObject* node, const std::shared_ptr<BackwardRange>& range) {
  return add(node, &NodeHook::ended, &NodeHook::after, name_register_hook, range);
}

int backward_node_init() {
  struct Name {
    PyObject** place;
    const char* text;
  };
  const Name names[] = {{&name_key, "nvspan"},
                        {&name_metadata, "metadata"},
                        {&name_register_prehook, "register_prehook"},
                        {&name_register_hook, "register_hook"}};
  for (const Name& name : names) {
    *name.place = PyUnicode_InternFromString(name.text);
    if (!*name.place) return -1;
  }
  hook_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  return hook_type ? 0 : -1;
}

}  // namespace nvspan
