// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

namespace nvspan::core {

// The number d.ddd * 10^exponent of `count` digits.
struct DecimalDigits {
  char digits[17];
  int count;
  int exponent;
};

// The fewest digits that read back as the finite `value` without its sign, and of those the nearest
// to it. Not std::to_chars, whose tables for other forms are a third of a library that holds it.
DecimalDigits shortest_digits(double value);
DecimalDigits shortest_digits(float value);

}  // namespace nvspan::core
