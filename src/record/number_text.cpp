// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/number_text.hpp"

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace nvspan {
namespace {

// The locale's decimal point may be any text: what is neither a digit, a sign nor an exponent is
// it.
void add_printed(LineBuffer& line, const char* text, int length) {
  bool marked = false;
  bool in_point = false;
  for (int i = 0; i < length; ++i) {
    const char byte = text[i];
    const bool plain = (byte >= '0' && byte <= '9') || byte == '-' || byte == '+' || byte == 'e';
    if (plain) {
      marked = marked || byte == 'e';
      line.add(byte);
    } else if (!in_point) {
      marked = true;
      line.add('.');
    }
    in_point = !plain;
  }
  if (!marked) line.add(".0");
}

}  // namespace

bool add_double(LineBuffer& line, double value) {
  if (!std::isfinite(value)) return false;
  char text[64];
  int length = 0;
  for (int precision = 15; precision <= 17; ++precision) {
    length = std::snprintf(text, sizeof text, "%.*g", precision, value);
    if (std::strtod(text, nullptr) == value) break;
  }
  add_printed(line, text, length);
  return true;
}

bool add_float(LineBuffer& line, float value) {
  if (!std::isfinite(value)) return false;
  char text[64];
  int length = 0;
  for (int precision = 6; precision <= 9; ++precision) {
    length = std::snprintf(text, sizeof text, "%.*g", precision, static_cast<double>(value));
    if (std::strtof(text, nullptr) == value) break;
  }
  add_printed(line, text, length);
  return true;
}

const char* not_finite_name(double value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

}  // namespace nvspan
