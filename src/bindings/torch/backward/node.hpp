// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Hooks on the nodes of autograd's graph. A node has at most one object of ours, in its metadata,
// which is its hook before it runs, and after it where that is asked for. The object knows ranges
// and no node, so nothing here keeps a graph alive.
//
// torch's own way to hook a node before it runs, `register_prehook`, is Python and costs 2 us.
// Where torch has what TorchFunctions has last, the node takes the object as it takes the hook of a
// tensor instead. The engine calls such a hook before the node's own, and also where it does not
// run the node but only takes the gradient that arrives there: no range begins then.

#include <memory>

#include "bindings/support/py.hpp"
#include "bindings/torch/backward/range.hpp"

namespace nvspan::bindings {

// Each: 0, or -1 with an exception set. `node` is a node of torch's.
int begin_before(PyObject* node, const std::shared_ptr<BackwardRange>& range);
int end_before(PyObject* node, const std::shared_ptr<BackwardRange>& range);
int end_after(PyObject* node, const std::shared_ptr<BackwardRange>& range);

int backward_node_init();

}  // namespace nvspan::bindings
