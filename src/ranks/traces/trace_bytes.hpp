// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Traces as bytes, so that workers can send them: those of one machine and version.

#pragma once

#include "core/text/text_table.hpp"
#include "ranks/traces/trace.hpp"

#include <string>
#include <string_view>
#include <vector>

namespace nvspan::ranks {

// With the texts that they name.
std::string packed_traces(const std::vector<RankTrace>& traces, const core::TextTable& texts);
// Their texts are added to `texts`. Throws SummaryError where these are no such bytes.
std::vector<RankTrace> unpacked_traces(std::string_view bytes, core::TextTable& texts);

}  // namespace nvspan::ranks
