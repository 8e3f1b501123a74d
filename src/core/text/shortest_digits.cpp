// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/text/shortest_digits.hpp"

#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <limits>

namespace nvspan::core {
namespace {

// A number of 128 bits, or one with 64 bits before its point and 64 after it.
struct Wide {
  std::uint64_t high, low;
};

Wide multiply(std::uint64_t a, std::uint64_t b) {
#if defined(__SIZEOF_INT128__)
  __extension__ using Product = unsigned __int128;
  const auto product = static_cast<Product>(a) * b;
  return {static_cast<std::uint64_t>(product >> 64), static_cast<std::uint64_t>(product)};
#else
  const std::uint64_t half = 0xffffffff;
  const std::uint64_t low = (a & half) * (b & half);
  const std::uint64_t one = (a >> 32) * (b & half) + (low >> 32);
  const std::uint64_t other = (a & half) * (b >> 32) + (one & half);
  return {(a >> 32) * (b >> 32) + (one >> 32) + (other >> 32), other << 32 | (low & half)};
#endif
}

// 5^(27 * (i - 11)): its 128 highest bits, cut off. 5^27 is the largest below 2^63.
constexpr int step = 27, below = 11;
constexpr Wide powers[] = {
    {0xa76c582338ed2621, 0xaf2af2b80af6f24e}, {0x873e4f75e2224e68, 0x5a7744a6e804a291},
    {0xda7f5bf590966848, 0xaf39a475506a899e}, {0xb080392cc4349dec, 0xbd8d794d96aacfb3},
    {0x8e938662882af53e, 0x547eb47b7282ee9c}, {0xe65829b3046b0afa, 0x0cb4a5a3112a5112},
    {0xba121a4650e4ddeb, 0x92f34d62616ce413}, {0x964e858c91ba2655, 0x3a6a07f8d510f86f},
    {0xf2d56790ab41c2a2, 0xfae27299423fb9c3}, {0xc428d05aa4751e4c, 0xaa97e14c3c26b886},
    {0x9e74d1b791e07e48, 0x775ea264cf55347d}, {0x8000000000000000, 0x0000000000000000},
    {0xcecb8f27f4200f3a, 0x0000000000000000}, {0xa70c3c40a64e6c51, 0x999090b65f67d924},
    {0x86f0ac99b4e8dafd, 0x69a028bb3ded71a3}, {0xda01ee641a708de9, 0xe80e6f4820cc9495},
    {0xb01ae745b101e9e4, 0x5ec05dcff72e7f8f}, {0x8e41ade9fbebc27d, 0x14588f13be847307},
    {0xe5d3ef282a242e81, 0x8f1668c8a86da5fa}, {0xb9a74a0637ce2ee1, 0x6d953e2bd7173692},
    {0x95f83d0a1fb69cd9, 0x4abdaf101564f98e}, {0xf24a01a73cf2dccf, 0xbc633b39673c8cec},
    {0xc3b8358109e84f07, 0x0a862f80ec4700c8}, {0x9e19db92b4e31ba9, 0x6c07a2c26a8346d1},
};

// floor(number * log10(2)) and floor(number * log2(5)), of what the exponents here are.
int decimal_exponent(int number) { return (number * 78913) >> 18; }
int binary_exponent(int number) { return (number * 152170) >> 16; }

struct Fives {
  constexpr Fives() {
    for (int i = 1; i < step; ++i) of[i] = 5 * of[i - 1];
  }
  std::uint64_t of[step] = {1};
};
constexpr Fives fives;

// Multiplies whole numbers below 2^56 by 2^two * 10^ten; the product is below 2^60.
class Scale {
 public:
  Scale(int two, int ten) {
    const int at = (ten + below * step) / step;
    five_ = fives.of[ten - (at - below) * step];
    power_ = powers[at];
    // the power is cut off unless it is 1
    exact_ = at == below;
    // What is kept has 64 bits after its point.
    down_ = -64 - (binary_exponent((at - below) * step) - 127 + two + ten);
  }

  bool exact() const { return exact_; }

  // At most two units of the last bit too small, and not at all if `exact()` is still true.
  Wide of(std::uint64_t number) {
    const Wide product = multiply(number, five_);
    const Wide a = multiply(product.low, power_.low), b = multiply(product.low, power_.high);
    const Wide c = multiply(product.high, power_.low), d = multiply(product.high, power_.high);
    std::uint64_t limbs[5] = {a.low, a.high, b.high, d.high, 0};
    limbs[3] += add(limbs[1], b.low) ? add(limbs[2], 1) : 0;
    limbs[3] += add(limbs[1], c.low) ? add(limbs[2], 1) : 0;
    limbs[3] += add(limbs[2], c.high);
    limbs[3] += add(limbs[2], d.low);
    const int limb = down_ / 64, bits = down_ % 64;
    for (int i = 0; i < limb; ++i) exact_ = exact_ && limbs[i] == 0;
    if (bits == 0) return {limbs[limb + 1], limbs[limb]};
    exact_ = exact_ && limbs[limb] << (64 - bits) == 0;
    return {limbs[limb + 1] >> bits | limbs[limb + 2] << (64 - bits),
            limbs[limb] >> bits | limbs[limb + 1] << (64 - bits)};
  }

 private:
  static bool add(std::uint64_t& to, std::uint64_t number) { return (to += number) < number; }

  std::uint64_t five_;
  Wide power_;
  int down_;  // 3 to 130
  bool exact_;
};

// Where two units more may give another whole part.
bool near_whole(const Wide& number) { return number.low == 0 || number.low >= ~std::uint64_t{1}; }

void set_digits(DecimalDigits& result, std::uint64_t number, int exponent) {
  char backwards[20];
  int count = 0;
  for (; number != 0; number /= 10) backwards[count++] = static_cast<char>('0' + number % 10);
  result.count = count;
  result.exponent = exponent + count - 1;
  for (int i = 0; i < count; ++i) result.digits[i] = backwards[count - 1 - i];
}

// The number is fraction * 2^two, where the fraction has so many bits; `uneven`: the next smaller
// number is nearer than the next larger. False where 128 bits do not tell what is right, which is
// rare.
bool find_digits(std::uint64_t fraction, int bits, int two, bool uneven, DecimalDigits& result) {
  const int ten = 16 - decimal_exponent(two + bits - 1);
  // Numbers between `low` and `high` read back as this one; in quarters of its last bit.
  Scale scale(two - 2, ten);
  const Wide value = scale.of(4 * fraction);
  const Wide low = scale.of(4 * fraction - (uneven ? 1 : 2)), high = scale.of(4 * fraction + 2);
  const bool exact = scale.exact();
  if (!exact && (near_whole(low) || near_whole(high))) return false;
  const bool with_ends = exact && fraction % 2 == 0;
  std::uint64_t least = low.high + (with_ends && low.low == 0 ? 0 : 1);
  std::uint64_t most = high.high - (!with_ends && high.low == 0 ? 1 : 0);
  int dropped = 0;
  std::uint64_t unit = 1;  // 10^dropped
  for (; most / 10 >= (least + 9) / 10; ++dropped, unit *= 10) {
    most /= 10;
    least = (least + 9) / 10;
  }
  std::uint64_t nearest = value.high / unit;
  // What the whole units leave, and half a unit.
  const Wide rest{value.high % unit, value.low};
  const Wide half{unit / 2, unit == 1 ? std::uint64_t{1} << 63 : 0};
  const bool smaller = rest.high < half.high || (rest.high == half.high && rest.low < half.low);
  const bool equal = rest.high == half.high && rest.low == half.low;
  if (!exact) {
    const Wide raised{rest.high + (rest.low >= ~std::uint64_t{1} ? 1 : 0), rest.low + 2};
    const bool below_half =
        raised.high < half.high || (raised.high == half.high && raised.low < half.low);
    if (smaller != below_half || equal) return false;
  }
  if (equal ? nearest % 2 != 0 : !smaller) ++nearest;
  if (nearest < least) nearest = least;
  if (nearest > most) nearest = most;
  set_digits(result, nearest, dropped - ten);
  return true;
}

float read_back(const char* text, float) { return std::strtof(text, nullptr); }
double read_back(const char* text, double) { return std::strtod(text, nullptr); }

// By the C library, in whose text the point is that of the program's locale.
template <typename Real>
void try_digits(Real value, DecimalDigits& result) {
  char text[64];
  for (int digits = 1; digits <= std::numeric_limits<Real>::max_digits10; ++digits) {
    std::snprintf(text, sizeof text, "%.*e", digits - 1, static_cast<double>(value));
    if (read_back(text, value) == value) break;
  }
  const char* at = text;
  for (result.count = 0; *at != 'e'; ++at) {
    if (*at >= '0' && *at <= '9') result.digits[result.count++] = *at;
  }
  result.exponent = static_cast<int>(std::strtol(at + 1, nullptr, 10));
}

template <typename Real, typename Bits>
DecimalDigits find(Real value) {
  constexpr int digits = std::numeric_limits<Real>::digits;
  constexpr Bits hidden = Bits{1} << (digits - 1);  // the highest digit, which is not stored
  static_assert(sizeof(Bits) == sizeof(Real) && std::numeric_limits<Real>::is_iec559);
  value = std::fabs(value);
  Bits stored;
  std::memcpy(&stored, &value, sizeof stored);
  DecimalDigits result;
  if (stored == 0) {
    result.digits[0] = '0';
    result.count = 1;
    result.exponent = 0;
    return result;
  }
  Bits fraction = stored & (hidden - 1);
  int exponent = static_cast<int>(stored >> (digits - 1));
  int bits = digits;
  const bool uneven = fraction == 0 && exponent > 1;
  if (exponent != 0) {
    fraction |= hidden;
  } else {
    exponent = 1;
    while (fraction >> (bits - 1) == 0) --bits;
  }
  const int two = exponent + std::numeric_limits<Real>::min_exponent - digits - 1;
  if (!find_digits(fraction, bits, two, uneven, result)) try_digits(value, result);
  return result;
}

}  // namespace

DecimalDigits shortest_digits(double value) { return find<double, std::uint64_t>(value); }
DecimalDigits shortest_digits(float value) { return find<float, std::uint32_t>(value); }

}  // namespace nvspan::core
