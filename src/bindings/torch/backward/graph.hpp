// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What a module call is to autograd: the nodes that made its inputs and outputs, and the first one
// that it made.

#include <cstdint>
#include <unordered_set>
#include <vector>

#include "bindings/support/py.hpp"
#include "bindings/support/module_state.hpp"

namespace nvspan::bindings {

// Nodes, each once, in the order in which they came.
class NodeSet {
 public:
  bool add(py_ref node);
  bool contains(PyObject* node) const;
  bool empty() const noexcept { return nodes_.empty(); }
  size_t size() const noexcept { return nodes_.size(); }
  PyObject* operator[](size_t i) const noexcept { return nodes_[i].get(); }

 private:
  std::vector<py_ref> nodes_;
  std::unordered_set<PyObject*> index_;  // where there are many
};

struct Producer {
  py_ref tensor;
  py_ref node;
};

// All of these: 0, or -1 with an exception set.

// The tensors in nested lists, tuples, dictionaries and dataclasses that a node made.
int collect_producers(PyObject* value, std::vector<Producer>& producers);

// Of `outputs` and what comes before them, short of `producers`: the node that was made first, but
// not before number `first`, and its number. Autograd runs the nodes of a thread latest first, so
// it comes last.
int find_first_made(const NodeSet& outputs, const NodeSet& producers, uint64_t first, py_ref& node,
                    uint64_t& number);

// Whether the tensor still is what the node made, and no node was made between that one and number
// `first`: then nothing runs between the module's nodes and this one.
int is_last_before(const Producer& producer, uint64_t first, bool& result);

// Whether it is a node at which a parameter's gradient arrives.
inline bool is_leaf(PyObject* node) noexcept {
  return reinterpret_cast<PyObject*>(Py_TYPE(node)) == state().torch.functions.accumulate_grad_type;
}

}  // namespace nvspan::bindings
