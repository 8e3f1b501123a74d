// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

// Makes the type `Domain` and the default domain. 0, or -1 with an exception set.
int domain_type_add_to_module(PyObject* module);

}  // namespace nvspan::bindings
