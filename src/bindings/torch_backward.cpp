// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/torch_backward.hpp"

#include <cstdint>
#include <exception>
#include <memory>
#include <utility>

#include "bindings/annotate_object.hpp"
#include "bindings/backward_graph.hpp"
#include "bindings/backward_node.hpp"
#include "bindings/backward_range.hpp"
#include "bindings/module_state.hpp"

namespace nvspan {

namespace {

struct BackwardCalls {
  PyObject_HEAD PyObject* target;
  Annotation* annotation;
  Annotation* recomputed;  // of a call that is made during a backward pass
  bool device;
};

// Functions of torch. Set once, by nvspan.torch.
struct Torch {
  PyObject* is_grad_enabled;
  PyObject* sequence;      // () -> int
  PyObject* is_compiling;  // () -> bool
  PyObject* compiler;      // dict of the module that has the function
  PyObject* flag;          // what the function looks at, under that name
};

Torch torch;

BackwardCalls* as_calls(PyObject* object) noexcept {
  return reinterpret_cast<BackwardCalls*>(object);
}

bool answer(PyObject* function) noexcept {
  const py_ref result = py_ref::steal(PyObject_CallNoArgs(function));
  if (!result) PyErr_Clear();
  return result.get() == Py_True;
}

bool compiling() noexcept {
  PyObject* value = PyDict_GetItemWithError(torch.compiler, torch.flag);
  return value ? value == Py_True : answer(torch.is_compiling);
}

bool wanted(const BackwardCalls* calls) noexcept {
  return listening() && annotation_wanted(reinterpret_cast<PyObject*>(calls->annotation)) &&
         answer(torch.is_grad_enabled) && !compiling();
}

// The number that autograd gives its next node.
int next_number(uint64_t& number) {
  const py_ref value = py_ref::steal(PyObject_CallNoArgs(torch.sequence));
  if (!value) return -1;
  number = PyLong_AsUnsignedLongLong(value.get());
  return PyErr_Occurred() ? -1 : 0;
}

// What a call within this one has found: the node of number `number`. It goes with the outermost
// call, for it keeps a graph alive. Nothing of it is destroyed with the thread, which may then be
// without the GIL.
struct FoundWithin {
  size_t depth = 0;
  uint64_t number = 0;
  PyObject* node = nullptr;  // owned
};

thread_local FoundWithin found_within;

// One call that is followed.
struct Followed {
  std::vector<Producer> inputs;
  uint64_t first = 0;

  Followed() noexcept { ++found_within.depth; }
  ~Followed() {
    if (--found_within.depth == 0) Py_CLEAR(found_within.node);
  }
  Followed(const Followed&) = delete;
  Followed& operator=(const Followed&) = delete;
};

// The node after which the range ends. Where the call's first node is that of a call within it,
// what made its outputs is not walked again.
int find_last_to_run(const Followed& call, const NodeSet& outputs, const NodeSet& producers,
                     py_ref& node) {
  if (found_within.node && found_within.number == call.first) {
    node = py_ref::borrow(found_within.node);
    return 0;
  }
  uint64_t number = 0;
  if (find_first_made(outputs, producers, call.first, node, number) < 0) return -1;
  if (node && number == call.first) {
    found_within.number = number;
    Py_XSETREF(found_within.node, Py_NewRef(node.get()));
  }
  return 0;
}

// Before the module runs: it may change its inputs in place.
int look_at_inputs(Followed& call, PyObject* args, PyObject* kwargs) {
  if (next_number(call.first) < 0 || collect_producers(args, call.inputs) < 0) return -1;
  return kwargs ? collect_producers(kwargs, call.inputs) : 0;
}

// Whether one of the nodes that made the inputs is what runs when the module's are through.
int ends_before_producer(const Followed& call, bool& result) {
  result = false;
  for (const Producer& each : call.inputs) {
    if (is_last_before(each, call.first, result) < 0) return -1;
    if (result) return 0;
  }
  return 0;
}

int hook_nodes(const Followed& call, const NodeSet& outputs, const NodeSet& producers,
               const std::shared_ptr<BackwardRange>& range) {
  bool before_producer = false;
  if (ends_before_producer(call, before_producer) < 0) return -1;
  py_ref last;
  if (!before_producer && find_last_to_run(call, outputs, producers, last) < 0) return -1;
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (begin_before(outputs[i], range) < 0) return -1;
  }
  for (size_t i = 0; i < producers.size(); ++i) {
    if (end_before(producers[i], range) < 0) return -1;
  }
  return last ? end_after(last.get(), range) : 0;
}

int follow(const BackwardCalls* calls, const Followed& call, PyObject* output) {
  NodeSet producers;
  NodeSet outputs;
  for (const Producer& each : call.inputs) producers.add(py_ref::borrow(each.node.get()));
  std::vector<Producer> made;
  if (collect_producers(output, made) < 0) return -1;
  for (Producer& each : made) {
    if (!producers.contains(each.node.get())) outputs.add(std::move(each.node));
  }
  if (outputs.empty()) return 0;
  uint64_t last = 0;
  if (next_number(last) < 0) return -1;
  Annotation* annotation = current_pass() == no_pass ? calls->annotation : calls->recomputed;
  return hook_nodes(call, outputs, producers,
                    std::make_shared<BackwardRange>(annotation, calls->device, call.first, last));
}

// A torch that differs, an output that raises when looked at: said once, and no more.
void tell_failure(const BackwardCalls* calls) noexcept {
  PyObject *type, *error, *traceback;
  PyErr_Fetch(&type, &error, &traceback);
  PyErr_NormalizeException(&type, &error, &traceback);
  warn_once_quietly("backward ranges", "no backward range of %S: %R",
                    calls->annotation->fields->message, error ? error : Py_None);
  Py_XDECREF(type);
  Py_XDECREF(error);
  Py_XDECREF(traceback);
}

PyObject* call_target(PyObject* target, PyObject* args, PyObject* kwargs) {
  if (kwargs && PyDict_GET_SIZE(kwargs) != 0) return PyObject_Call(target, args, kwargs);
  return PyObject_Vectorcall(target, PySequence_Fast_ITEMS(args),
                             static_cast<size_t>(PyTuple_GET_SIZE(args)), nullptr);
}

template <class Call>
bool succeeds(Call&& call) noexcept {
  try {
    return call() == 0;
  } catch (const std::exception& error) {
    PyErr_SetString(PyExc_MemoryError, error.what());
    return false;
  }
}

PyObject* calls_call(PyObject* object, PyObject* args, PyObject* kwargs) {
  BackwardCalls* calls = as_calls(object);
  if (!wanted(calls)) return call_target(calls->target, args, kwargs);
  Followed call;
  const bool known = succeeds([&] { return look_at_inputs(call, args, kwargs); });
  if (!known) tell_failure(calls);
  PyObject* output = call_target(calls->target, args, kwargs);
  if (output && known && !succeeds([&] { return follow(calls, call, output); })) {
    tell_failure(calls);
  }
  return output;
}

PyTypeObject* calls_type;

PyObject* follow_backward(PyObject*, PyObject* args) {
  PyObject* target;
  PyObject* annotation;
  PyObject* recomputed;
  int device;
  PyTypeObject* annotate = state().annotate_type;
  if (!PyArg_ParseTuple(args, "OO!O!p:_follow_backward", &target, annotate, &annotation, annotate,
                        &recomputed, &device)) {
    return nullptr;
  }
  BackwardCalls* calls = PyObject_GC_New(BackwardCalls, calls_type);
  if (!calls) return nullptr;
  calls->target = Py_NewRef(target);
  calls->annotation = reinterpret_cast<Annotation*>(Py_NewRef(annotation));
  calls->recomputed = reinterpret_cast<Annotation*>(Py_NewRef(recomputed));
  calls->device = device != 0;
  PyObject_GC_Track(reinterpret_cast<PyObject*>(calls));
  return reinterpret_cast<PyObject*>(calls);
}

int calls_traverse(PyObject* object, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(object));
  Py_VISIT(as_calls(object)->target);
  return 0;
}

void calls_dealloc(PyObject* object) {
  PyObject_GC_UnTrack(object);
  BackwardCalls* calls = as_calls(object);
  Py_DECREF(calls->target);
  Py_DECREF(reinterpret_cast<PyObject*>(calls->annotation));
  Py_DECREF(reinterpret_cast<PyObject*>(calls->recomputed));
  PyTypeObject* type = Py_TYPE(object);
  PyObject_GC_Del(object);
  Py_DECREF(type);
}

// No tp_clear: what it would clear is needed for calls, and a cycle through it goes through the
// module's dictionary, which the collector clears.
PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(calls_traverse)},
                       {Py_tp_dealloc, reinterpret_cast<void*>(calls_dealloc)},
                       {Py_tp_call, reinterpret_cast<void*>(calls_call)},
                       {0, nullptr}};

PyType_Spec spec = {"nvspan._core.BackwardCalls", sizeof(BackwardCalls), 0,
                    Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                    slots};

PyObject* set_torch_functions(PyObject*, PyObject* const* args, Py_ssize_t nargs) {
  constexpr Py_ssize_t count = 8;
  constexpr Py_ssize_t count_with_node_hooks = 11;
  if ((nargs != count && nargs != count_with_node_hooks) || !PyType_Check(args[0]) ||
      !PyType_Check(args[1]) || !PyDict_Check(args[7])) {
    PyErr_SetString(PyExc_TypeError,
                    "two types, five functions, a dict and perhaps NodeHooks are needed");
    return nullptr;
  }
  if (torch.is_compiling) Py_RETURN_NONE;
  graph_types = {reinterpret_cast<PyTypeObject*>(Py_NewRef(args[0])),
                 reinterpret_cast<PyTypeObject*>(Py_NewRef(args[1]))};
  backward_engine = {Py_NewRef(args[2]), Py_NewRef(args[3])};
  PyObject* flag = PyUnicode_InternFromString("_is_compiling_flag");
  if (!flag) return nullptr;
  torch = {Py_NewRef(args[4]), Py_NewRef(args[5]), Py_NewRef(args[6]), Py_NewRef(args[7]), flag};
  if (nargs == count_with_node_hooks) {
    node_hooks = {Py_NewRef(args[8]), Py_NewRef(args[9]), Py_NewRef(args[10])};
  }
  Py_RETURN_NONE;
}

PyMethodDef functions[] = {
    {"_follow_backward", follow_backward, METH_VARARGS, nullptr},
    {"_set_torch_functions", as_method(set_torch_functions), METH_FASTCALL, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int torch_backward_add_to_module(PyObject* module) {
  if (backward_range_init() < 0 || backward_node_init() < 0 || backward_graph_init() < 0) return -1;
  calls_type = reinterpret_cast<PyTypeObject*>(PyType_FromSpec(&spec));
  if (!calls_type) return -1;
  return PyModule_AddFunctions(module, functions);
}

}  // namespace nvspan
