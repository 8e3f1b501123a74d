// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include <cstdint>
#include <string>

namespace nvspan::reader {

// Copies what the recording `from` holds of its last `window` ns into the new file `to`, which only
// its owner may read; 0: all of it. The process may write meanwhile, be stopped or be dead; it
// notices nothing. Chunks that it used again during the copy are left out, as a ring leaves out
// what is old. The copy becomes visible under its name when it is whole.
//
// False: `problem` says why.
bool freeze_recording(const std::string& from, const std::string& to, std::uint64_t window,
                      std::string& problem);

}  // namespace nvspan::reader
