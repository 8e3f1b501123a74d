// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/torch/backward/graph.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace nvspan::bindings {

namespace {

constexpr size_t most_compared = 16;

PyTypeObject* tensor_type() noexcept {
  return reinterpret_cast<PyTypeObject*>(state().torch.functions.tensor_type);
}

int collect(PyObject* value, std::vector<Producer>& producers);

int collect_tensor(PyObject* tensor, std::vector<Producer>& producers) {
  py_ref node = py_ref::steal(PyObject_GetAttr(tensor, state().torch.names.grad_fn));
  if (!node) return -1;
  if (node.get() != Py_None) producers.push_back({py_ref::borrow(tensor), std::move(node)});
  return 0;
}

int collect_items(PyObject* items, std::vector<Producer>& producers) {
  const py_ref fast = py_ref::steal(PySequence_Fast(items, "no sequence"));
  if (!fast) return -1;
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(fast.get()); ++i) {
    const py_ref item = py_ref::borrow(PySequence_Fast_GET_ITEM(fast.get(), i));
    if (collect(item.get(), producers) < 0) return -1;
  }
  return 0;
}

int collect_fields(PyObject* value, PyObject* fields, std::vector<Producer>& producers) {
  const py_ref names = py_ref::steal(PyMapping_Keys(fields));
  if (!names) return -1;
  for (Py_ssize_t i = 0; i < PyList_GET_SIZE(names.get()); ++i) {
    const py_ref field = py_ref::steal(PyObject_GetAttr(value, PyList_GET_ITEM(names.get(), i)));
    if (!field) PyErr_Clear();  // declared and not set
    if (field && collect(field.get(), producers) < 0) return -1;
  }
  return 0;
}

int collect(PyObject* value, std::vector<Producer>& producers) {
  PyTypeObject* type = Py_TYPE(value);
  if (PyType_IsSubtype(type, tensor_type())) return collect_tensor(value, producers);
  const bool sequence = PyTuple_Check(value) || PyList_Check(value);
  const bool mapping = !sequence && PyDict_Check(value);
  if (!sequence && !mapping && !PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE)) return 0;
  if (Py_EnterRecursiveCall(" while looking for tensors")) return -1;
  int result = 0;
  if (sequence) {
    result = collect_items(value, producers);
  } else if (mapping) {
    const py_ref values = py_ref::steal(PyDict_Values(value));
    result = values ? collect_items(values.get(), producers) : -1;
  } else {
    const py_ref fields = py_ref::steal(
        PyObject_GetAttr(reinterpret_cast<PyObject*>(type), state().torch.names.dataclass_fields));
    if (!fields) PyErr_Clear();
    if (fields && PyDict_Check(fields.get())) {
      result = collect_fields(value, fields.get(), producers);
    }
  }
  Py_LeaveRecursiveCall();
  return result;
}

struct Numbered {
  uint64_t number;
  PyObject* node;
};

bool later(const Numbered& one, const Numbered& other) noexcept {
  return one.number > other.number;
}

// The number that autograd gave the node when it was made.
int number_of(PyObject* node, uint64_t& number) {
  const py_ref value =
      py_ref::steal(PyObject_CallMethodNoArgs(node, state().torch.names.sequence_nr));
  if (!value) return -1;
  number = PyLong_AsUnsignedLongLong(value.get());
  return PyErr_Occurred() ? -1 : 0;
}

}  // namespace

bool NodeSet::contains(PyObject* node) const {
  if (nodes_.size() > most_compared) return index_.count(node) != 0;
  for (const py_ref& known : nodes_) {
    if (known.get() == node) return true;
  }
  return false;
}

bool NodeSet::add(py_ref node) {
  if (contains(node.get())) return false;
  nodes_.push_back(std::move(node));
  if (nodes_.size() == most_compared + 1) {
    for (const py_ref& known : nodes_) index_.insert(known.get());
  } else if (nodes_.size() > most_compared) {
    index_.insert(nodes_.back().get());
  }
  return true;
}

int collect_producers(PyObject* value, std::vector<Producer>& producers) {
  return collect(value, producers);
}

int find_first_made(const NodeSet& outputs, const NodeSet& producers, uint64_t first, py_ref& node,
                    uint64_t& number) {
  NodeSet seen;
  std::vector<Numbered> todo;  // a heap
  Numbered lowest = {std::numeric_limits<uint64_t>::max(), nullptr};
  const auto visit = [&](PyObject* each) {
    if (seen.contains(each)) return 0;
    Numbered node = {0, each};
    if (number_of(each, node.number) < 0) return -1;
    seen.add(py_ref::borrow(each));
    if (node.number < first) return 0;  // outside
    todo.push_back(node);
    std::push_heap(todo.begin(), todo.end(), later);
    if (node.number < lowest.number) lowest = node;
    return 0;
  };
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (visit(outputs[i]) < 0) return -1;
  }
  while (!todo.empty() && lowest.number != first) {
    std::pop_heap(todo.begin(), todo.end(), later);
    const Numbered current = todo.back();
    todo.pop_back();
    const py_ref followers =
        py_ref::steal(PyObject_GetAttr(current.node, state().torch.names.next_functions));
    if (!followers) return -1;
    if (!PyTuple_Check(followers.get())) {
      PyErr_SetString(PyExc_TypeError, "a node's next_functions must be a tuple");
      return -1;
    }
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(followers.get()); ++i) {
      PyObject* pair = PyTuple_GET_ITEM(followers.get(), i);
      PyObject* follower =
          PyTuple_Check(pair) && PyTuple_GET_SIZE(pair) ? PyTuple_GET_ITEM(pair, 0) : Py_None;
      if (follower == Py_None || is_leaf(follower) || producers.contains(follower)) {
        continue;
      }
      if (visit(follower) < 0) return -1;
    }
  }
  node = py_ref::borrow(lowest.node);
  number = lowest.number;
  return 0;
}

int is_last_before(const Producer& producer, uint64_t first, bool& result) {
  result = false;
  uint64_t number = 0;
  if (number_of(producer.node.get(), number) < 0) return -1;
  if (number + 1 != first) return 0;
  const py_ref now =
      py_ref::steal(PyObject_GetAttr(producer.tensor.get(), state().torch.names.grad_fn));
  if (!now) return -1;
  result = now.get() == producer.node.get();
  return 0;
}

}  // namespace nvspan::bindings
