// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A part of a recording's tables, as tables.

#pragma once

#include "reader/scan/selection.hpp"
#include "reader/tables/tables.hpp"

#include <vector>

namespace nvspan::reader {

// A range's parent is the innermost of those around it that are left.
Tables select_rows(const Tables& tables, const Selection& selection);

// The ranges of which `keep` holds.
RangeTable select_ranges(const RangeTable& ranges, const std::vector<bool>& keep);

}  // namespace nvspan::reader
