// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The digits of numbers of every size are those of std::to_chars, which has tables for them.

#include "core/text/number_text.hpp"

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <random>
#include <string>

#include "expect.hpp"

namespace {

using nvspan::core::NumberText;

// Without the zeros at both ends.
std::string digits_of(const std::string& text) {
  std::string digits;
  for (const char byte : text.substr(0, text.find('e'))) {
    if (byte >= '0' && byte <= '9' && (byte != '0' || !digits.empty())) digits += byte;
  }
  const std::size_t last = digits.find_last_not_of('0');
  return last == std::string::npos ? "0" : digits.substr(0, last + 1);
}

template <typename Real>
void check(Real value) {
  if (!std::isfinite(value)) return;
  value = std::fabs(value);
  char text[64];
  char* const end =
      std::to_chars(text, text + sizeof text, value, std::chars_format::scientific).ptr;
  const std::string made(NumberText(value).view());
  const std::string digits = digits_of(made), shortest = digits_of(std::string(text, end));
  // Below a power of two numbers lie twice as dense as above it.
  int exponent = 0;
  const bool power = std::frexp(value, &exponent) == Real{0.5};
  const bool right = digits == shortest || (power && digits.size() == shortest.size() + 1);
  const bool same = (sizeof value == sizeof(float) ? std::strtof(made.c_str(), nullptr)
                                                   : std::strtod(made.c_str(), nullptr)) == value;
  if (!right || !same) std::fprintf(stderr, "%s, not %.*s\n", made.c_str(), int(end - text), text);
  EXPECT(right && same);
}

void layout() {
  EXPECT(NumberText(0.0).view() == "0.0" && NumberText(-0.0).view() == "-0.0");
  EXPECT(NumberText(0.1F).view() == "0.1" && NumberText(-2.5).view() == "-2.5");
  EXPECT(NumberText(1e15).view() == "1000000000000000.0" && NumberText(1e16).view() == "1e+16");
  EXPECT(NumberText(0.0001).view() == "0.0001" && NumberText(1.5e-5).view() == "1.5e-05");
  EXPECT(NumberText(1e-320).view() == "1e-320" && NumberText(5e-324).view() == "5e-324");
  EXPECT(NumberText(std::numeric_limits<double>::infinity()).view() == "inf");
}

template <typename Real, typename Bits>
Real of_bits(Bits bits) {
  Real value;
  std::memcpy(&value, &bits, sizeof value);
  return value;
}

void ends_of_the_range() {
  check(0.0);
  check(0.0F);
  for (const double value :
       {std::numeric_limits<double>::denorm_min(), std::numeric_limits<double>::min(),
        std::numeric_limits<double>::max(), 1e23, 9e15, 9007199254740993.0}) {
    check(value);
  }
  check(std::numeric_limits<float>::denorm_min());
  check(std::numeric_limits<float>::max());
}

void powers() {
  for (int two = -1074; two < 1024; ++two) {
    const double power = std::ldexp(1.0, two);
    check(power);
    check(std::nextafter(power, 0.0));
    check(std::nextafter(power, 2 * power));
    check(static_cast<float>(power));
  }
  for (int ten = -323; ten < 309; ++ten) {
    const double power = std::strtod(("1e" + std::to_string(ten)).c_str(), nullptr);
    check(power);
    check(3 * power);
    check(std::nextafter(power, 0.0));
  }
}

// Where a number is exact, its ends and halves count.
void short_numbers() {
  for (int number = 1; number < 4096; ++number) {
    check(number / 64.0);
    check(number / 1000.0);
    check(static_cast<float>(number) / 100.0F);
    check(std::ldexp(number, 50));
    check(std::ldexp(static_cast<float>(number), 20));
  }
}

void numbers_at_random() {
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i) {
    const std::uint64_t bits = random();
    check(of_bits<double>(bits));
    check(of_bits<double>(bits >> (12 + bits % 52)));  // denormal
    check(of_bits<float>(static_cast<std::uint32_t>(bits)));
    check(of_bits<float>(static_cast<std::uint32_t>(bits) >> 9));
    check(std::round(static_cast<double>(bits >> bits % 60)) / 1000);
  }
}

}  // namespace

int main() {
  layout();
  ends_of_the_range();
  powers();
  short_numbers();
  numbers_at_random();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
