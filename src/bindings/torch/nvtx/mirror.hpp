// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// What is pushed, popped and marked, as record functions of torch.profiler while one is active.

#include "bindings/support/py.hpp"

namespace nvspan::bindings {

// Whether to emit to torch while a profiler of it is active.
void torch_emit_enable(bool enable) noexcept;
bool torch_emit_enabled() noexcept;

// A torch profiler has started. `record_function` is torch's type of fast record functions.
void torch_profiler_started(PyObject* record_function) noexcept;

// One is about to stop: what this thread has open ends while the profiler is still there.
void torch_profiler_stopping() noexcept;

// One has stopped.
void torch_profiler_stopped() noexcept;

}  // namespace nvspan::bindings
