// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// `_follow_backward` gives a callable that calls a module's forward and follows the backward pass
// of what it returns. It goes through torch's Python objects, so it is built without torch.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

// Adds it and `_set_torch_functions`. 0, or -1 with an exception set.
int torch_backward_add_to_module(PyObject* module);

}  // namespace nvspan::bindings
