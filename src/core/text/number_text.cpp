// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/text/number_text.hpp"

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace nvspan::core {
namespace {

float read_back(const char* text, float) { return std::strtof(text, nullptr); }
double read_back(const char* text, double) { return std::strtod(text, nullptr); }

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
  // Not std::to_chars, whose tables for other forms are a third of a library that holds it. Numbers
  // below the normal ones have fewer digits than digits10.
  using Limits = std::numeric_limits<Real>;
  char text[64];
  int digits = std::isnormal(value) ? Limits::digits10 : 1;
  do {
    std::snprintf(text, sizeof text, "%.*e", digits - 1, static_cast<double>(std::fabs(value)));
  } while (read_back(text, value) != std::fabs(value) && ++digits <= Limits::max_digits10);
  // The C library's point is that of the program's locale, which may be of several bytes.
  char* const exponent = std::strchr(text, 'e');
  char* end = text;
  for (const char* at = text; at != exponent; ++at) {
    if (*at >= '0' && *at <= '9') *end++ = *at;
  }
  while (end > text + 1 && end[-1] == '0') --end;
  const auto power = static_cast<int>(std::strtol(exponent + 1, nullptr, 10));
  lay_out(std::signbit(value), text, static_cast<int>(end - text), power);
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

DurationText::DurationText(std::uint64_t ns) {
  std::uint64_t size = 1'000'000'000;
  for (const char* const unit : {"s", "ms", "us"}) {
    if (ns >= size - size / 2000) {  // 999.5 us is 1.00 ms
      unit_ = unit;
      break;
    }
    size /= 1000;
  }
  std::uint64_t digit = size > 1 ? size / 100 : 1;  // the value of the last one
  int decimals = size > 1 ? 2 : 0;
  for (; decimals > 0 && ns >= 1000 * digit - digit / 2; --decimals) digit *= 10;
  const std::uint64_t rounded = (ns + digit / 2) / digit, per_unit = size / digit;
  int length = std::snprintf(number_, sizeof number_, "%" PRIu64, rounded / per_unit);
  if (decimals > 0) {
    length += std::snprintf(number_ + length, sizeof number_ - static_cast<std::size_t>(length),
                            ".%0*" PRIu64, decimals, rounded % per_unit);
  }
  length_ = static_cast<std::size_t>(length);
}

const char* not_finite_name(double value) {
  if (std::isnan(value)) return "nan";
  return value < 0 ? "-inf" : "inf";
}

}  // namespace nvspan::core
