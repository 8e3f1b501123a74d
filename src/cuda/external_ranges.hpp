// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Device ranges whose beginning and end on the GPU somebody else has read from its globaltimer.
//
// Contract: as device_ranges.hpp. begin_external() and end_external() call no function of the
// driver, so they may be called from its host functions.

#include <cstdint>

#include "cuda/context/device_context.hpp"
#include "cuda/model/device_range.hpp"

namespace nvspan::cuda {

// The record of the calling thread's context; null: it has none.
DeviceContext* context_of_caller() noexcept;

// A range of `stream`, which may be any number that tells it apart, with a payload of 64 bits. Null
// if no tool shows it. The caller ends it once. `of` says whose it is in a communicator.
DeviceRange* begin_external(annotate::ReadyEvent& event, uint64_t payload, DeviceContext& context,
                            uint64_t stream, const annotate::GroupPlace& of) noexcept;

// The GPU has come to it: for a tool that shows what is open.
void external_began(DeviceRange* range) noexcept;

// Times are ns of globaltimer.
void end_external(DeviceRange* range, DeviceContext& context, int64_t begin, int64_t end) noexcept;

// For a range that will never end.
void drop_external(DeviceRange* range) noexcept;

}  // namespace nvspan::cuda
