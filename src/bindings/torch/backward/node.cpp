// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/torch/backward/node.hpp"

#include <mutex>
#include <new>
#include <utility>

#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"
#include "bindings/torch/backward/graph.hpp"

namespace nvspan::bindings {

namespace {

struct NodeHook {
  PyObject_HEAD BackwardRanges ending;  // before the node runs
  BackwardRanges beginning;
  BackwardRanges ended;  // after it
  bool before;           // registered
  bool before_run;       // registered so that the engine calls it only if it runs the node
  bool after;
};

NodeHook* as_hook(PyObject* object) noexcept { return reinterpret_cast<NodeHook*>(object); }

void end_all(const BackwardRanges& ranges, int64_t pass) {
  for (const auto& each : ranges) each->end_here(pass);
}

void begin_all(const NodeHook* hook, int64_t pass) {
  // A module comes after the modules within it.
  for (auto each = hook->beginning.rbegin(); each != hook->beginning.rend(); ++each) {
    BackwardRange::begin(*each, pass);
  }
}

int call_method(PyObject* object, PyObject* name, PyObject* argument) {
  return py_ref::steal(PyObject_CallMethodOneArg(object, name, argument)) ? 0 : -1;
}

// Of a node's `next_functions`, those that are leaves, or those that are not: whether the pass
// reaches one.
bool reaches(PyObject* followers, bool leaves) {
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(followers); ++i) {
    PyObject* pair = PyTuple_GET_ITEM(followers, i);
    if (!PyTuple_Check(pair) || PyTuple_GET_SIZE(pair) == 0) continue;
    PyObject* follower = PyTuple_GET_ITEM(pair, 0);
    if (follower == Py_None || is_leaf(follower) != leaves) continue;
    const py_ref reached =
        py_ref::steal(PyObject_CallOneArg(state().torch.functions.is_node_reached, follower));
    if (!reached) PyErr_Clear();  // a leaf whose gradient `autograd.grad()` takes
    if (!reached || reached.get() == Py_True) return true;
  }
  return false;
}

// Whether the pass needs what the node gives, so that the engine runs it. Otherwise it runs it only
// where the node made one of the `inputs` of `backward()`, and not for `autograd.grad()`. Leaves
// come last: raising for one costs 10 us.
bool is_needed(PyObject* node) {
  const py_ref followers =
      py_ref::steal(PyObject_GetAttr(node, state().torch.names.next_functions));
  if (!followers || !PyTuple_Check(followers.get())) return false;
  return reaches(followers.get(), false) || reaches(followers.get(), true);
}

void before_node_or_capture(NodeHook* hook, int64_t pass) {
  end_all(hook->ending, pass);
  if (hook->beginning.empty()) return;
  const py_ref node = py_ref::steal(PyObject_CallNoArgs(state().torch.functions.current_node));
  if (!node) return;
  if (node.get() == Py_None || is_needed(node.get())) {  // None: compiled autograd
    begin_all(hook, pass);
  } else if (!hook->before_run) {
    // The engine is to tell: it comes to these hooks next, if it runs the node.
    PyObject* object = reinterpret_cast<PyObject*>(hook);
    hook->before_run = call_method(node.get(), state().torch.names.register_prehook, object) == 0;
  }
}

// torch calls a tensor's hook with the gradient, a hook before the node with all of its gradients,
// one after it with those of both sides.
PyObject* hook_call(PyObject* object, PyObject* args, PyObject*) {
  NodeHook* hook = as_hook(object);
  const int64_t pass = current_pass();
  if (pass == no_pass) Py_RETURN_NONE;
  if (PyTuple_GET_SIZE(args) != 1) {
    end_all(hook->ended, pass);
  } else if (PyObject* given = PyTuple_GET_ITEM(args, 0);
             PyTuple_Check(given) || PyList_Check(given)) {
    end_all(hook->ending, pass);
    begin_all(hook, pass);
  } else {
    before_node_or_capture(hook, pass);
    PyErr_Clear();
  }
  Py_RETURN_NONE;
}

void hook_dealloc(PyObject* object) {
  const py_error_scope scope;
  NodeHook* hook = as_hook(object);
  hook->ending.~BackwardRanges();
  hook->beginning.~BackwardRanges();
  hook->ended.~BackwardRanges();
  free_object(object);
}

py_ref new_hook() {
  NodeHook* hook = PyObject_New(NodeHook, state().torch.node_hook_type);
  if (!hook) return {};
  new (&hook->ending) BackwardRanges;
  new (&hook->beginning) BackwardRanges;
  new (&hook->ended) BackwardRanges;
  hook->before = hook->before_run = hook->after = false;
  return py_ref::steal(reinterpret_cast<PyObject*>(hook));
}

// The node's hook, made if it has none.
py_ref hook_of(PyObject* node) {
  const py_ref metadata = py_ref::steal(PyObject_GetAttr(node, state().torch.names.metadata));
  if (!metadata) return {};
  if (!PyDict_Check(metadata.get())) {
    PyErr_SetString(PyExc_TypeError, "a node's metadata must be a dict");
    return {};
  }
  PyObject* known = PyDict_GetItemWithError(metadata.get(), state().torch.names.nvspan);
  if (known && Py_IS_TYPE(known, state().torch.node_hook_type)) return py_ref::borrow(known);
  if (PyErr_Occurred()) return {};
  py_ref hook = new_hook();
  if (!hook || PyDict_SetItem(metadata.get(), state().torch.names.nvspan, hook.get()) < 0)
    return {};
  return hook;
}

// The tensor keeps nothing: a range ends at the latest when its graph is freed.
int register_as_of_tensor(PyObject* node, PyObject* hook) {
  const py_ref hooks = py_ref::steal(PyDict_New());
  if (!hooks || PyDict_SetItem(hooks.get(), state().torch.names.nvspan, hook) < 0) return -1;
  PyObject* tensor = state().torch.functions.hooked_tensor;
  const py_section section(tensor);  // of what hooks it has
  if (PyObject_SetAttr(tensor, state().torch.names.backward_hooks, hooks.get()) < 0) return -1;
  const int result = call_method(node, state().torch.names.register_hook_dict, tensor);
  const py_error_scope scope;
  PyObject_SetAttr(tensor, state().torch.names.backward_hooks, Py_None);
  return result;
}

int register_before(PyObject* node, PyObject* hook) {
  return state().torch.functions.hooked_tensor
             ? register_as_of_tensor(node, hook)
             : call_method(node, state().torch.names.register_prehook, hook);
}

int register_after(PyObject* node, PyObject* hook) {
  return call_method(node, state().torch.names.register_hook, hook);
}

int add(PyObject* node, BackwardRanges NodeHook::* list, bool NodeHook::* registered,
        int (*register_hook)(PyObject*, PyObject*), const std::shared_ptr<BackwardRange>& range) {
  const py_ref owned = hook_of(node);
  if (!owned) return -1;
  NodeHook* hook = as_hook(owned.get());
  if (!(hook->*registered)) {
    if (register_hook(node, owned.get()) < 0) return -1;
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
  return add(node, &NodeHook::beginning, &NodeHook::before, register_before, range);
}

int end_before(PyObject* node, const std::shared_ptr<BackwardRange>& range) {
  return add(node, &NodeHook::ending, &NodeHook::before, register_before, range);
}

int end_after(PyObject* node, const std::shared_ptr<BackwardRange>& range) {
  return add(node, &NodeHook::ended, &NodeHook::after, register_after, range);
}

int backward_node_init() {
  state().torch.node_hook_type =
      make_type("nvspan._core.BackwardHook", sizeof(NodeHook), Py_TPFLAGS_DISALLOW_INSTANTIATION,
                {{Py_tp_dealloc, slot(hook_dealloc)}, {Py_tp_call, slot(hook_call)}});
  return state().torch.node_hook_type ? 0 : -1;
}

}  // namespace nvspan::bindings
