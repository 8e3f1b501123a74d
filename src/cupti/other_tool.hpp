// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace nvspan::cupti {

// Nsight Systems, Nsight Compute or cuda-gdb, where it has this process; null: none is seen. CUPTI
// is not for two: the second one takes the first one's records, or the program crashes.
const char* other_gpu_tool();

}  // namespace nvspan::cupti
