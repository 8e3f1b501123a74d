// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Ranges that show when a stream of the GPU did the enclosed work.
//
// Contract: no function here throws, initialises CUDA or leaves another context current. A range
// that cannot be placed is left out and counted. All functions may be called from any thread; those
// that call the driver may block as the driver blocks, so callers release their locks first.

#include "cuda/context/range_pool.hpp"
#include "cuda/model/device_range.hpp"
#include "cuda/model/outcome_counts.hpp"

namespace nvspan::cuda {

// Whether device ranges can work now: a driver, initialised, in the process that did so.
bool available() noexcept;

// Whether the process has a CUDA context. It loads no driver and makes no context; true where
// nobody can tell.
bool has_context() noexcept;

// The device of the calling thread's context, or -1.
DeviceOrdinal current_device() noexcept;

// Begins a range on the stream. `event` is null if no tool listens and only the time is wanted.
// Returns a new reference, or null, counted, if nothing was placed.
DeviceRange* begin_range(annotate::ReadyEvent* event, const annotate::ToolTable* tool,
                         const Options& options, Target target) noexcept;

// Ends it on the stream it began on, or on `other`; in a capture on the one that it began in.
// Ending it again does nothing.
void end_range(DeviceRange* range, const Target* other) noexcept;

// For a range that will never be ended.
void abandon_range(DeviceRange* range) noexcept;

// Whether the range is over on the GPU, or lost. A captured range is over after its first replay.
bool is_done(const DeviceRange* range) noexcept;

// Waits for all work that the stream was given. Does nothing without CUDA, and for a stream that is
// captured; the program's next call sees any error of the driver.
void synchronize(Target target) noexcept;

// Waits until every ended range is over and sent to the tool. False after `seconds`.
bool flush(double seconds) noexcept;

// Takes no more ranges, waits briefly for those in flight and counts the rest.
void shut_down(double seconds) noexcept;

}  // namespace nvspan::cuda
