// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Colors of a program's own in the Perfetto UI.

#pragma once

#include <cstdint>
#include <string>

namespace nvspan::reader {

// The UI takes no colors from a trace: it makes one of a slice's correlation id, a text. This is a
// text that gives nearly the hue and lightness of `argb`: "#FF0000/1234". Empty: of a shade of
// grey, which the UI has none of.
std::string perfetto_color_key(std::uint32_t argb);

}  // namespace nvspan::reader
