// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one thread that reads what the GPU has timed, tells the tool and the handles. It waits for no
// stream and knows nothing of Python.

#include <cstdint>

namespace nvspan::cuda {

// Has the thread look at once, and starts it if there is none. Cheap while it is awake. Under
// Nsight Compute there is no thread: its range replay ends a range at any other thread's call of
// the driver.
void wake_poller() noexcept;

// Looks through everything in the calling thread.
void read_in_place() noexcept;

// Whether there ever was something for it to do.
bool poller_needed() noexcept;

// How often the thread has looked through everything since it started.
uint64_t poller_rounds() noexcept;

// How much it has begun and not ended: ranges that are read and not told, calibrations.
uint64_t poller_backlog() noexcept;

// From now on ranges are told to the tool as soon as they are read.
void hurry_poller(bool on) noexcept;

// Ends the thread if it comes to it within `seconds`.
void stop_poller(double seconds) noexcept;

}  // namespace nvspan::cuda
