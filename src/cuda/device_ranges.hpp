// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranges that show when a stream of the GPU did the enclosed work.
//
// Contract: no function here throws, initialises CUDA or leaves another context current. What
// cannot be done is left out and counted. All functions may be called from any thread; those that
// call the driver may block as the driver blocks, so a caller lets go of locks of its own.

#include "cuda/context/range_pool.hpp"
#include "cuda/model/device_range.hpp"
#include "cuda/model/outcome_counts.hpp"

namespace nvspan::cuda {

// Whether device ranges can work now: a driver, initialised, in the process that did so.
bool available() noexcept;

// The device of the calling thread's context, or -1.
DeviceOrdinal current_device() noexcept;

// Begins a range on the stream. `event` is null if nobody listens and only the time is wanted.
// A new reference, or null if nothing was placed, which is counted.
DeviceRange* begin_range(annotate::ReadyEvent* event, const annotate::ToolTable* tool,
                         const Options& options, Target target) noexcept;

// Ends it on the stream it began on, or on `other`; in a capture on the one that it began in.
// Ending it again does nothing.
void end_range(DeviceRange* range, const Target* other) noexcept;

// For a range that will never be ended.
void abandon_range(DeviceRange* range) noexcept;

// Over on the GPU (or lost). A captured range is over after its first replay.
bool is_done(const DeviceRange* range) noexcept;

// Waits for what the stream has been given. Does nothing without CUDA, and for a stream that is
// captured; an error of the driver's is left to the program's next call.
void synchronize(Target target) noexcept;

// Waits until every range that was ended is over and told to the tool. False after `seconds`.
bool flush(double seconds) noexcept;

// Takes no more ranges, waits a little for those in flight and counts what is left.
void shut_down(double seconds) noexcept;

}  // namespace nvspan::cuda
