// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/watch/change_point.hpp"

#include <algorithm>
#include <cmath>

namespace nvspan::reader {
namespace {

constexpr double smallest_shift = 0.05;  // that is looked for
constexpr double smallest_spread = 1e-3;
constexpr double level_memory = 4096;        // durations: how slowly level and spread follow
constexpr double block_memory = 64;          // blocks: the same of the long-run variance
constexpr double normal_deviation = 0.6745;  // the median of |z| of a normal distribution
// ln of how many durations lie between two false alarms, were the model exact. Far more than is
// asked for: the long-run variance is itself an estimate.
constexpr double caution = 20;
constexpr double most_in_a_row = 14;

// Three robust deviations, and not less than the shift that is looked for.
double most_of(double spread) { return std::max(3 * spread, smallest_shift); }
double cut_at(double value, double spread) {
  const double most = most_of(spread);
  return std::max(-most, std::min(most, value));
}

// A float's precision is far more than durations have.
double log_of(double duration) {
  return static_cast<double>(
      std::log(static_cast<float>(std::max(1e-30, std::min(1e30, duration)))));
}

float median(float* begin, float* end) {
  float* middle = begin + (end - begin) / 2;
  std::nth_element(begin, middle, end);
  return *middle;
}

}  // namespace

void ChangePoint::learn() noexcept {
  float work[warm_up];
  std::copy(first_, first_ + warm_up, work);
  level_ = static_cast<double>(median(work, work + warm_up));
  for (std::size_t i = 0; i < warm_up; ++i) {
    work[i] = std::fabs(first_[i] - static_cast<float>(level_));
  }
  const auto deviation = static_cast<double>(median(work, work + warm_up));
  spread_ = std::max(deviation / normal_deviation, smallest_spread);
  // The level is where cut residuals cancel out: of a skewed distribution not the median.
  for (int round = 0; round < 20; ++round) {
    double sum = 0;
    for (const float x : first_) sum += cut_at(static_cast<double>(x) - level_, spread_);
    level_ += sum / warm_up;
  }
  double squares = 0;
  double products = 0;
  double blocks = 0;
  double in_block = 0;
  double before = 0;
  for (std::size_t i = 0; i < warm_up; ++i) {
    const double r = cut_at(static_cast<double>(first_[i]) - level_, spread_);
    squares += r * r;
    products += r * before;
    before = r;
    in_block += r;
    if (i % block != block - 1) continue;
    blocks += in_block * in_block;
    in_block = 0;
  }
  const double alone = squares / warm_up;
  // Few blocks say little: what neighbours say of the dependence counts where it is more.
  const double rho = std::max(0.0, std::min(0.9, products / std::max(squares, 1e-30)));
  variance_ = std::max(
      {alone * (1 + rho) / (1 - rho), blocks / warm_up, smallest_spread * smallest_spread});
  in_block_ = 0;
  block_sum_ = 0;
  slower_ = faster_ = Side{};
  set_threshold();
  std::fill(recent_, recent_ + recent, 0.0F);
}

void ChangePoint::set_threshold() noexcept {
  most_ = most_of(spread_);
  // Never so much that what is cut cannot rise.
  slack_ = std::min(std::max(smallest_shift / 2, std::sqrt(variance_) / 2), most_ / 2);
  // Of a quiet stream with outliers, whose sums are not normal: so many outliers in a row.
  threshold_ = std::max(variance_ / (2 * slack_) * caution, most_in_a_row * (most_ - slack_));
}

bool ChangePoint::step(Side& side, double residual) const noexcept {
  side.sum += residual - slack_;
  ++side.length;
  if (side.sum <= 0) side = Side{};
  return side.sum > threshold_;
}

bool ChangePoint::add(double duration) noexcept {
  const double x = log_of(duration);
  if (seen_ < warm_up) {
    first_[seen_++] = static_cast<float>(x);
    if (seen_ == warm_up) learn();
    return false;
  }
  const double off = x - level_;
  const double residual = std::max(-most_, std::min(most_, off));
  recent_[latest_++ % recent] = static_cast<float>(off);
  const bool slower = step(slower_, residual);
  const bool faster = step(faster_, -residual);
  if (slower || faster) {
    since_ = (slower ? slower_ : faster_).length;
    // An alarm takes about as many: those before the change are few.
    change_ = std::exp(static_cast<double>(median(recent_, recent_ + recent)));
    seen_ = 0;
    return true;
  }
  level_ += residual / level_memory;
  // Half of the residuals lie within the median deviation.
  const bool wide = std::fabs(off) > spread_ * normal_deviation;
  spread_ = std::max(smallest_spread, spread_ * (1 + (wide ? 2.0 : -2.0) / level_memory));
  block_sum_ += residual;
  if (++in_block_ == block) {
    const double found = std::min(block_sum_ * block_sum_ / block, 6 * variance_);
    variance_ =
        std::max(smallest_spread * smallest_spread, variance_ + (found - variance_) / block_memory);
    block_sum_ = 0;
    in_block_ = 0;
    set_threshold();
  }
  return false;
}

void HighQuantile::add(double duration) noexcept {
  constexpr double rise = 0.03;
  const double x = log_of(duration);
  if (seen_ < warm_up) {
    log_ = seen_ == 0 ? x : std::max(log_, x);
    ++seen_;
    return;
  }
  log_ += x > log_ ? rise * 0.99 : -rise * 0.01;
}

double HighQuantile::value() const noexcept { return seen_ < warm_up ? 0 : std::exp(log_); }

}  // namespace nvspan::reader
