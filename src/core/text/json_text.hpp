// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/text/line_buffer.hpp"

#include <string_view>

namespace nvspan::core {

// In ASCII; null when the text has no address. A byte that is not part of valid UTF-8 becomes one
// of U+DC80 to U+DCFF.
void add_json_string(LineBuffer& line, std::string_view text);
// What is not finite is a string.
void add_json_real(LineBuffer& line, double value);

}  // namespace nvspan::core
