// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/memory/page_pool.hpp"
#include "record/file/format.hpp"

#include <cstdint>

namespace nvspan::record {

// Measures FileHeader::event_cost and inner_cost: events run through a separate writer whose
// chunk is not in the file. `epoch` is the current one.
void measure_event_cost(core::PagePool& pool, std::uint64_t epoch, FileHeader& header) noexcept;

}  // namespace nvspan::record
