// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What is unusual in a stream of durations, judged one by one in constant time and memory.

#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>

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

// A change of the level of a stream: CUSUM over the logarithms of its durations, both ways. It
// learns the level, the spread and how much neighbours depend on one another from the first
// durations, follows slow drifts of all three, and, after an alarm, begins anew.
//
// Residuals are cut at three robust deviations, so that a tail, however heavy, counts as little as
// three ordinary outliers. The threshold comes from the long-run variance s^2 (of sums of blocks
// and of groups of them, which has the dependence in it): of a sum that drifts by -k, the level h
// is crossed by chance about once in exp(2 k h / s^2) durations. What was learned of the dependence
// outlasts an alarm.
//
// What each duration needs is in two lines of the processor's memory, and is done without a branch
// that chance decides.
class alignas(64) ChangePoint {
 public:
  static constexpr std::size_t warm_up = 256;
  static constexpr std::size_t block = 16;
  static constexpr std::size_t group = 4;  // blocks
  static constexpr std::size_t recent = 15;

  ChangePoint() : first_(new float[warm_up]()) {}

  // `duration` in any unit, above 0. True: the level has changed; change() says by how much.
  bool add(double duration) noexcept { return add_log(log_of(duration)); }
  bool add_log(float x) noexcept;
  // Of the last alarm: the new level by the old one.
  double change() const noexcept { return static_cast<double>(change_); }
  // How many durations back the last alarm's change began, as far as the sum tells.
  std::size_t since() const noexcept { return since_; }

 private:
  struct Side {
    float sum = 0;
    std::uint32_t length = 0;  // since the sum was 0
  };

  bool add_first(float x) noexcept;
  void learn() noexcept;
  void set_threshold() noexcept;
  void end_block() noexcept;
  void follow_groups() noexcept;
  bool alarm() noexcept;
  static void step(Side& side, float more) noexcept;

  double level_ = 0;    // of logarithms
  float spread_ = 0;    // robust standard deviation
  float variance_ = 0;  // long-run, of residuals, by blocks
  float slack_ = 0;     // k
  float threshold_ = 0;
  float most_ = 0;  // of a residual
  float block_sum_ = 0;
  Side slower_;
  Side faster_;
  std::uint16_t seen_ = 0;
  std::uint8_t latest_ = 0;  // of recent_
  std::uint8_t in_block_ = 0;
  std::uint32_t since_ = 0;
  std::unique_ptr<float[]> first_;
  float change_ = 1;
  float recent_[recent] = {};  // residuals as they are
  // Once in a block:
  double slow_variance_ = 0;  // long-run, of residuals, by groups of blocks
  double dependence_ = 1;     // the larger of both, by the square of the spread
  double group_sum_ = 0;      // of blocks
  std::size_t in_group_ = 0;
};

// The duration that one of a hundred exceeds, followed as it moves.
class HighQuantile {
 public:
  static constexpr std::size_t warm_up = 64;

  void add(double duration) noexcept { add_log(log_of(duration)); }
  void add_log(float x) noexcept;
  // 0: too few durations are known.
  double value() const noexcept;
  // Whether it is known, and exceeded by so much; both are logarithms.
  bool is_exceeded(float x, float by) const noexcept {
    return seen_ >= warm_up && x > static_cast<float>(log_) + by;
  }

 private:
  std::size_t seen_ = 0;
  double log_ = 0;
};

}  // namespace nvspan::reader
