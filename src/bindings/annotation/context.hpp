// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// `with annotate(...)`; `async with` is in async_step.hpp.

#include "bindings/annotation/annotation.hpp"

namespace nvspan::bindings {

// Gives `type` its __enter__ and __exit__. 0, or -1 with an exception set.
int add_context_descriptors(PyTypeObject* type);

void init_bound_methods(Annotation* annotation) noexcept;

}  // namespace nvspan::bindings
