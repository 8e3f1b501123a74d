// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The counts of a core::LogHistogram as bytes: of each bucket that holds a value, how far it is
// from the one before it, and how many values it holds. Equal counts are equal bytes.

#pragma once

#include "core/log_histogram.hpp"

#include <string>
#include <string_view>

namespace nvspan::ranks {

std::string packed_histogram(const core::LogHistogram& histogram);
// Throws SummaryError where these are no such bytes.
void add_packed(std::string_view packed, core::LogHistogram& to);
// Of the values of both.
std::string merged_histograms(std::string_view one, std::string_view other);

}  // namespace nvspan::ranks
