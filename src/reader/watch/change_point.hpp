// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What is unusual in a stream of durations, judged one by one in constant time and memory.

#pragma once

#include <cstddef>

namespace nvspan::reader {

// A change of the level of a stream: CUSUM over the logarithms of its durations, both ways. It
// learns the level, the spread and how much neighbours depend on one another from the first
// durations, follows slow drifts of all three, and, after an alarm, begins anew.
//
// Residuals are cut at three robust deviations, so that a tail, however heavy, counts as little as
// three ordinary outliers. The threshold comes from the long-run variance s^2 (of sums of blocks,
// which has the dependence in it): of a sum that drifts by -k, the level h is crossed by chance
// about once in exp(2 k h / s^2) durations.
class ChangePoint {
 public:
  static constexpr std::size_t warm_up = 256;
  static constexpr std::size_t block = 16;
  static constexpr std::size_t recent = 15;

  // `duration` in any unit, above 0. True: the level has changed; change() says by how much.
  bool add(double duration) noexcept;
  // Of the last alarm: the new level by the old one.
  double change() const noexcept { return change_; }
  // How many durations back the last alarm's change began, as far as the sum tells.
  std::size_t since() const noexcept { return since_; }

 private:
  struct Side {
    double sum = 0;
    std::size_t length = 0;  // since the sum was 0
  };

  void learn() noexcept;
  void set_threshold() noexcept;
  bool step(Side& side, double residual) const noexcept;

  std::size_t seen_ = 0;
  std::size_t latest_ = 0;  // of recent_
  double level_ = 0;        // of logarithms
  double spread_ = 0;       // robust standard deviation
  double variance_ = 0;     // long-run, of residuals
  double slack_ = 0;        // k
  double threshold_ = 0;
  double most_ = 0;  // of a residual
  double block_sum_ = 0;
  std::size_t in_block_ = 0;
  Side slower_;
  Side faster_;
  double change_ = 1;
  std::size_t since_ = 0;
  float first_[warm_up] = {};
  float recent_[recent] = {};  // residuals as they are
};

// The duration that one of a hundred exceeds, followed as it moves.
class HighQuantile {
 public:
  static constexpr std::size_t warm_up = 64;

  void add(double duration) noexcept;
  // 0: too few durations are known.
  double value() const noexcept;

 private:
  std::size_t seen_ = 0;
  double log_ = 0;
};

}  // namespace nvspan::reader
