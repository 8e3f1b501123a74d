// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Locks on files that other processes lock too.

#pragma once

#include <cstdint>
#include <string>

namespace nvspan::reader {

// Locks the file until `fd` is closed. Whoever may read a file can lock it, so the call gives up
// `wait` ns later: false, and `problem` names the process that has locked it.
bool lock_file(int fd, std::uint64_t wait, std::string& problem);

}  // namespace nvspan::reader
