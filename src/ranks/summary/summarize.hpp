// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ranks/summary/summary.hpp"
#include "reader/file/recording.hpp"
#include "reader/scan/selection.hpp"

#include <cstdint>

namespace nvspan::ranks {

// Adds what the selected part of a recording comes to: rows of each rank, and the table
// "processes". A process without a rank is a group of its own.
void summarize(const reader::Recording& recording, const reader::Selection& selection, Summary& to);

// The group of a process: its rank, or a number that no other process has.
std::int64_t group_of(const reader::ReadProcess& process);
// A number for a process, the same wherever its file lies.
std::int64_t identity_of(const reader::ReadProcess& process);

// Added to a time of the process as the recording has it, gives ns since 1970.
std::int64_t unix_offset(const reader::ReadProcess& process);

}  // namespace nvspan::ranks
