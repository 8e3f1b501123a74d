// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace nvspan::bindings {

// The calling thread's name in Python as annotate::ThreadNamer wants it: that of its
// threading.Thread; of the main thread of a process that multiprocessing made the process's, of a
// worker of PyTorch's DataLoader "DataLoader worker 0". 0 without the GIL. Looks at what is there
// and runs no Python code.
size_t python_thread_name(char* name, size_t room) noexcept;

}  // namespace nvspan::bindings
