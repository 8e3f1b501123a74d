// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A store into a mapped file raises SIGBUS where another process has cut the file, or where the
// disk fails. For the mappings of a recording the handler here puts empty memory in place of the
// missing pages, so that the store completes and the program goes on; the recorder looks at
// fault_seen() and ends the recording. Every other SIGBUS goes to the handler that was installed
// before.
//
// The handler belongs to the process, so its state is global in the library. All calls but
// fault_seen() are made with the session's lock held.

#pragma once

#include <cstddef>

namespace nvspan::record {

extern const std::size_t
    page;  // the system's unit of mappings: 4096 bytes, 65536 on some Arm kernels

// Puts the handler in front, also in front of one that the program has installed since.
void guard_faults() noexcept;
// Restores the earlier handler, unless the program has installed another handler in the meantime.
void unguard_faults() noexcept;

bool guard_mapping(void* start, std::size_t bytes) noexcept;  // false: there is no memory
void forget_mapping(const void* start) noexcept;
void forget_all_mappings() noexcept;  // in a forked child, which has none of them

bool fault_seen() noexcept;  // since the last clear_fault(): a part of a mapping was replaced
void clear_fault() noexcept;

}  // namespace nvspan::record
