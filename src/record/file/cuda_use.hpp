// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/file/format.hpp"

namespace nvspan::record {

// What CUDA is in this process, read from /proc/self/maps: no call of the driver, no lock of the
// loader, so it is safe in a signal handler and while other threads start CUDA. `unknown` where
// /proc cannot be read.
//
// A context maps /dev/nvidia-uvm. Measured with driver 580 on an H100: mapped from a context's
// creation to its end; not by cuInit, nor by queries of devices; not in a forked child. A vGPU
// without unified memory and WSL do not map it: there the answer is `mapped`.
CudaUse find_cuda_use() noexcept;

}  // namespace nvspan::record
