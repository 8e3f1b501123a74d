// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The functions of nvspan.torch.nvtx, with the signatures of torch.cuda.nvtx.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

// Adds them as `_torch_range_push` and so on. 0, or -1 with an exception set.
int torch_nvtx_add_to_module(PyObject* module);

}  // namespace nvspan::bindings
