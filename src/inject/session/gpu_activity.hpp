// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Kernels, copies, sets and graphs of this process's GPUs, with the calls that launched them, into
// the session's recording, where its configuration wants them. Callers hold no lock.

#pragma once

namespace nvspan::inject {

// CUDA is used, or about to be. Does nothing where it has begun, and says in one line on standard
// error, once, why it cannot. Work that was launched before is not recorded.
void start_gpu_activity() noexcept;
// The same where the driver is in the process; where it is not, it calls InitializeInjection() of
// the library that CUDA_INJECTION64_PATH names when the program begins to use CUDA.
void start_gpu_activity_if_used() noexcept;
// The recording is about to end: takes what there is.
void stop_gpu_activity() noexcept;
// Another tool of the process needs CUPTI; and no longer does. What is launched meanwhile is a gap
// in the recording, which goes on where that tool keeps CUPTI.
void release_gpu_activity() noexcept;
// False: it has not let CUPTI go. Unless this is the last time that it is asked, nothing is said.
bool retake_gpu_activity(bool is_last) noexcept;
// cupti/activity.hpp: the launches of graphs in between are recorded by the node.
bool begin_graph_sample() noexcept;
void end_graph_sample() noexcept;
// Takes what is complete.
void flush_gpu_activity() noexcept;

}  // namespace nvspan::inject
