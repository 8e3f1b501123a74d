// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::annotate {

// The nvtx package's ten names (its values, without alpha), the 148 CSS names, `#rgb`, `#rrggbb`
// (opaque) and `#aarrggbb`; names in any case. False if `text` is none of them.
bool parse_color(std::string_view text, uint32_t& argb) noexcept;

// A color for `key` that is the same in every process.
uint32_t automatic_color(std::string_view key) noexcept;

}  // namespace nvspan::annotate
