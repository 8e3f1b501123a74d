// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/torch/backward/calls.hpp"

#include <cstdint>
#include <exception>
#include <iterator>
#include <memory>
#include <utility>

#include "bindings/annotation/annotation.hpp"
#include "bindings/support/module_state.hpp"
#include "bindings/support/types.hpp"
#include "bindings/torch/backward/graph.hpp"
#include "bindings/torch/backward/node.hpp"
#include "bindings/torch/backward/range.hpp"

namespace nvspan::bindings {

namespace {

struct BackwardCalls {
  PyObject_HEAD PyObject* target;
  Annotation* annotation;
  Annotation* recomputed;  // of a call that is made during a backward pass
  bool device;
};

BackwardCalls* as_calls(PyObject* object) noexcept {
  return reinterpret_cast<BackwardCalls*>(object);
}

bool answer(PyObject* function) noexcept {
  const py_ref result = py_ref::steal(PyObject_CallNoArgs(function));
  if (!result) PyErr_Clear();
  return result.get() == Py_True;
}

bool compiling() noexcept {
  const TorchFunctions& torch = state().torch.functions;
  PyObject* flag = state().torch.names.is_compiling_flag;
  PyObject* value = PyDict_GetItemWithError(torch.compiler, flag);
  return value ? value == Py_True : answer(torch.is_compiling);
}

bool wanted(const BackwardCalls* calls) noexcept {
  return listening() && annotation_wanted(reinterpret_cast<PyObject*>(calls->annotation)) &&
         answer(state().torch.functions.is_grad_enabled) && !compiling();
}

// The number that autograd gives its next node.
int next_number(uint64_t& number) {
  const py_ref value = py_ref::steal(PyObject_CallNoArgs(state().torch.functions.sequence_number));
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
  for (const Producer& producer : call.inputs) {
    if (is_last_before(producer, call.first, result) < 0) return -1;
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
  for (const Producer& producer : call.inputs) producers.add(py_ref::borrow(producer.node.get()));
  std::vector<Producer> output_producers;
  if (collect_producers(output, output_producers) < 0) return -1;
  for (Producer& producer : output_producers) {
    if (!producers.contains(producer.node.get())) outputs.add(std::move(producer.node));
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
  const py_ref error = take_exception();
  warn_once_quietly("backward ranges", "cannot show the backward range of %S: %R",
                    calls->annotation->fields->message, error ? error.get() : Py_None);
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

PyObject* follow_backward(PyObject*, PyObject* args) {
  PyObject* target;
  PyObject* annotation;
  PyObject* recomputed;
  int device;
  PyTypeObject* annotate = state().annotation.type;
  if (!PyArg_ParseTuple(args, "OO!O!p:_follow_backward", &target, annotate, &annotation, annotate,
                        &recomputed, &device)) {
    return nullptr;
  }
  BackwardCalls* calls = PyObject_GC_New(BackwardCalls, state().torch.calls_type);
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
  free_object(object);
}

// The last three, which torch may lack, may be None.
PyObject* set_torch_functions(PyObject*, PyObject* const* args, Py_ssize_t nargs,
                              PyObject* kwnames) {
  TorchFunctions given{};
  const NamedValue values[] = {{"tensor_type", &given.tensor_type},
                               {"accumulate_grad_type", &given.accumulate_grad_type},
                               {"graph_task_id", &given.graph_task_id},
                               {"queue_callback", &given.queue_callback},
                               {"is_grad_enabled", &given.is_grad_enabled},
                               {"sequence_number", &given.sequence_number},
                               {"is_compiling", &given.is_compiling},
                               {"compiler", &given.compiler},
                               {"hooked_tensor", &given.hooked_tensor},
                               {"current_node", &given.current_node},
                               {"is_node_reached", &given.is_node_reached}};
  if (read_named_values("_set_torch_functions", values, std::size(values), args, nargs, kwnames) <
      0) {
    return nullptr;
  }
  if (!PyType_Check(given.tensor_type) || !PyType_Check(given.accumulate_grad_type) ||
      !PyDict_Check(given.compiler)) {
    PyErr_SetString(PyExc_TypeError,
                    "tensor_type and accumulate_grad_type must be types, compiler a dict");
    return nullptr;
  }
  if (given.hooked_tensor == Py_None) given.hooked_tensor = nullptr;
  if (state().torch.functions.is_compiling) Py_RETURN_NONE;
  for (const NamedValue& value : values) Py_XINCREF(*value.place);
  state().torch.functions = given;
  Py_RETURN_NONE;
}

int intern_torch_names() {
  TorchNames& names = state().torch.names;
  return intern_names({{&names.backward_hooks, "_backward_hooks"},
                       {&names.dataclass_fields, "__dataclass_fields__"},
                       {&names.enter, "__enter__"},
                       {&names.exit, "__exit__"},
                       {&names.grad_fn, "grad_fn"},
                       {&names.is_compiling_flag, "_is_compiling_flag"},
                       {&names.metadata, "metadata"},
                       {&names.next_functions, "next_functions"},
                       {&names.nvspan, "nvspan"},
                       {&names.register_hook, "register_hook"},
                       {&names.register_hook_dict, "_register_hook_dict"},
                       {&names.register_prehook, "register_prehook"},
                       {&names.sequence_nr, "_sequence_nr"}});
}

PyMethodDef backward_calls_functions[] = {
    {"_follow_backward", follow_backward, METH_VARARGS, nullptr},
    {"_set_torch_functions", as_method(set_torch_functions), METH_FASTCALL | METH_KEYWORDS,
     nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

int torch_backward_add_to_module(PyObject* module) {
  if (intern_torch_names() < 0 || backward_range_init() < 0 || backward_node_init() < 0) return -1;
  // No tp_clear: what it would clear is needed for calls, and a cycle through it goes through the
  // module's dictionary, which the collector clears.
  state().torch.calls_type = make_type("nvspan._core.BackwardCalls", sizeof(BackwardCalls),
                                       Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION,
                                       {{Py_tp_traverse, slot(calls_traverse)},
                                        {Py_tp_dealloc, slot(calls_dealloc)},
                                        {Py_tp_call, slot(calls_call)}});
  if (!state().torch.calls_type) return -1;
  return PyModule_AddFunctions(module, backward_calls_functions);
}

}  // namespace nvspan::bindings
