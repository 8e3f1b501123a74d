// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/line_buffer.hpp"

namespace nvspan {

// The shortest decimal text that reads back as the same number, always with a point or an exponent,
// whatever the program's locale; false for NaN and infinities, for which nothing is added.
bool add_double(LineBuffer& line, double value);
bool add_float(LineBuffer& line, float value);

// "nan", "inf" or "-inf".
const char* not_finite_name(double value);

}  // namespace nvspan
