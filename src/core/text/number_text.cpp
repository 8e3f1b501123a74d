// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/text/number_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace nvspan::core {
namespace {

constexpr std::size_t most_bytes = 64;

// As "d.ddde+XX", or "de+XX"; returns the end. What stands for the point may be any text.
#if defined(__cpp_lib_to_chars)
template <typename Real>
const char* print_scientific(char (&text)[most_bytes], Real value) {
  return std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
}
#else
float read_back(const char* text, float) { return std::strtof(text, nullptr); }
double read_back(const char* text, double) { return std::strtod(text, nullptr); }

template <typename Real>
const char* print_scientific(char (&text)[most_bytes], Real value) {
  int length = 0;
  for (int digits = 1; digits <= std::numeric_limits<Real>::max_digits10; ++digits) {
    length = std::snprintf(text, sizeof text, "%.*e", digits - 1, static_cast<double>(value));
    if (read_back(text, value) == value) break;
  }
  return text + length;
}
#endif

bool is_digit(char byte) { return byte >= '0' && byte <= '9'; }

}  // namespace

void NumberText::add(const char* bytes, int count) {
  std::memcpy(bytes_ + size_, bytes, static_cast<std::size_t>(count));
  size_ += static_cast<std::size_t>(count);
}

void NumberText::add_zeros(int count) {
  for (; count > 0; --count) add('0');
}

// The first of the digits stands before the point of the exponent's form.
void NumberText::lay_out(bool negative, const char* digits, int count, int exponent) {
  constexpr int least = -4, most = 16;  // between them there is no exponent
  if (negative) add('-');
  if (exponent < least || exponent >= most) {
    add(digits[0]);
    if (count > 1) add('.');
    add(digits + 1, count - 1);
    add('e');
    add(exponent < 0 ? '-' : '+');
    const int size = std::abs(exponent);
    if (size >= 100) add(static_cast<char>('0' + size / 100));
    add(static_cast<char>('0' + size / 10 % 10));
    add(static_cast<char>('0' + size % 10));
  } else if (exponent < 0) {
    add("0.", 2);
    add_zeros(-exponent - 1);
    add(digits, count);
  } else {
    const int whole = exponent + 1;
    add(digits, count < whole ? count : whole);
    add_zeros(whole - count);
    add('.');
    if (count > whole) {
      add(digits + whole, count - whole);
    } else {
      add('0');
    }
  }
}

template <typename Real>
void NumberText::print(Real value) {
  if (!std::isfinite(value)) {
    const char* const name = not_finite_name(static_cast<double>(value));
    return add(name, static_cast<int>(std::strlen(name)));
  }
  char text[most_bytes];
  const char* const end = print_scientific(text, value);
  char digits[most_bytes];
  int count = 0;
  const char* at = text;
  for (; at != end && *at != 'e'; ++at) {
    if (is_digit(*at)) digits[count++] = *at;
  }
  while (count > 1 && digits[count - 1] == '0') --count;
  int exponent = 0;
  const bool small = at != end && at[1] == '-';
  for (; at != end; ++at) {
    if (is_digit(*at)) exponent = 10 * exponent + (*at - '0');
  }
  lay_out(std::signbit(value), digits, count, small ? -exponent : exponent);
}

NumberText::NumberText(double value) { print(value); }
NumberText::NumberText(float value) { print(value); }

bool add_real(LineBuffer& line, double value) {
  if (!std::isfinite(value)) return false;
  line.add(NumberText(value).view());
  return true;
}

bool add_real(LineBuffer& line, float value) {
  if (!std::isfinite(value)) return false;
  line.add(NumberText(value).view());
  return true;
}

const char* not_finite_name(double value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

}  // namespace nvspan::core
