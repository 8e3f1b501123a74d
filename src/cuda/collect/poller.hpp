// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The one thread that reads the GPU's stamps and informs the tool and the handles. It waits for no
// stream and does not use Python.

#include <cstdint>

namespace nvspan::cuda {

// Wakes the thread for a round, and starts it if there is none. Cheap while it is awake. Under
// Nsight Compute there is no thread: its range replay ends a range at any other thread's call of
// the driver.
void wake_poller() noexcept;

// Does a round in the calling thread.
void read_in_place() noexcept;

// Whether it ever had work.
bool poller_needed() noexcept;

// The number of rounds since the thread started.
uint64_t poller_rounds() noexcept;

// Its unfinished work: ranges that are read and not sent, and calibrations.
uint64_t poller_backlog() noexcept;

// From now on ranges are sent to the tool as soon as they are read.
void hurry_poller(bool on) noexcept;

// Ends the thread, if it stops within `seconds`.
void stop_poller(double seconds) noexcept;

}  // namespace nvspan::cuda
