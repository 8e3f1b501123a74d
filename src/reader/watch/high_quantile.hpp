// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What is unusual in a stream of durations, judged one by one in constant time and memory.

#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace nvspan::reader {

// The natural logarithm, to a float's precision, which is far more than durations have; of what no
// duration is, that of the nearest one.
inline float log_of(double duration) noexcept {
  constexpr float ln_2 = 0.693147181F;
  const double least = duration > 1e-30 ? duration : 1e-30;
  const auto value = static_cast<float>(least < 1e30 ? least : 1e30);
  std::uint32_t bits = 0;
  std::memcpy(&bits, &value, sizeof bits);
  // value = mantissa * 2^exponent, where the mantissa lies between the roots of 1/2 and of 2.
  const auto exponent = static_cast<std::int32_t>(bits - 0x3F3504F3U) >> 23;
  bits -= static_cast<std::uint32_t>(exponent) << 23;
  float mantissa = 0;
  std::memcpy(&mantissa, &bits, sizeof mantissa);
  const float s = (mantissa - 1) / (mantissa + 1);
  const float s2 = s * s;
  const float series = 2 * s * (1 + s2 * (1.0F / 3 + s2 * (1.0F / 5 + s2 * (1.0F / 7))));
  return static_cast<float>(exponent) * ln_2 + series;
}

// The duration that one of a hundred exceeds, followed as it moves.
class HighQuantile {
 public:
  static constexpr std::size_t warm_up = 64;

  void add(double duration) noexcept { add_log(log_of(duration)); }
  void add_log(float x) noexcept {
    constexpr double rise = 0.03;
    const auto found = static_cast<double>(x);
    if (seen_ < warm_up) {
      log_ = seen_ == 0 ? found : std::max(log_, found);
      ++seen_;
      return;
    }
    log_ += found > log_ ? rise * 0.99 : -rise * 0.01;
  }
  // 0: too few durations are known.
  double value() const noexcept { return seen_ < warm_up ? 0 : std::exp(log_); }
  // Whether it is known, and exceeded by so much; both are logarithms.
  bool is_exceeded(float x, float by) const noexcept {
    return seen_ >= warm_up && x > static_cast<float>(log_) + by;
  }

 private:
  std::size_t seen_ = 0;
  double log_ = 0;
};

}  // namespace nvspan::reader
