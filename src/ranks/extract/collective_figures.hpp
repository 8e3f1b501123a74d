// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "ranks/extract/extract.hpp"
#include "ranks/summary/summary.hpp"
#include "reader/file/recording.hpp"

namespace nvspan::ranks {

// Adds the collectives of a recording: rows of the kind `kind_of_collectives`, with the operation
// as name and the communicator as domain, "number:ranks", the number in hexadecimal; either may be
// missing. Times are from when the rank came until it left; where the recording does not show that,
// as where the CPU's request alone is in it, the row counts it as unclosed. Takes a further pass
// over recordings that have such ranges.
void add_collectives(const reader::Recording& recording, const ExtractOptions& options,
                     Summary& to);

}  // namespace nvspan::ranks
