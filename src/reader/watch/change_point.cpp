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
constexpr double group_memory = 32;          // groups of blocks
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

float median(float* begin, float* end) {
  float* middle = begin + (end - begin) / 2;
  std::nth_element(begin, middle, end);
  return *middle;
}

}  // namespace

void ChangePoint::learn() noexcept {
  float work[warm_up];
  std::copy(first_.get(), first_.get() + warm_up, work);
  level_ = static_cast<double>(median(work, work + warm_up));
  for (std::size_t i = 0; i < warm_up; ++i) {
    work[i] = std::fabs(first_[i] - static_cast<float>(level_));
  }
  const auto deviation = static_cast<double>(median(work, work + warm_up));
  const double spread = std::max(deviation / normal_deviation, smallest_spread);
  // The level is where cut residuals cancel out: of a skewed distribution not the median.
  for (int round = 0; round < 20; ++round) {
    double sum = 0;
    for (std::size_t i = 0; i < warm_up; ++i) {
      sum += cut_at(static_cast<double>(first_[i]) - level_, spread);
    }
    level_ += sum / warm_up;
  }
  double squares = 0;
  double products = 0;
  double blocks = 0;
  double in_block = 0;
  double before = 0;
  for (std::size_t i = 0; i < warm_up; ++i) {
    const double r = cut_at(static_cast<double>(first_[i]) - level_, spread);
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
  spread_ = static_cast<float>(spread);
  slow_variance_ = std::max({alone * (1 + rho) / (1 - rho), blocks / warm_up, alone * dependence_,
                             smallest_spread * smallest_spread});
  variance_ = static_cast<float>(slow_variance_);
  in_block_ = 0;
  in_group_ = 0;
  block_sum_ = 0;
  group_sum_ = 0;
  slower_ = faster_ = Side{};
  set_threshold();
  std::fill(recent_, recent_ + recent, 0.0F);
}

void ChangePoint::set_threshold() noexcept {
  const double variance = std::max(static_cast<double>(variance_), slow_variance_);
  const double most = most_of(static_cast<double>(spread_));
  // Never so much that what is cut cannot rise.
  const double slack = std::min(std::max(smallest_shift / 2, std::sqrt(variance) / 2), most / 2);
  most_ = static_cast<float>(most);
  slack_ = static_cast<float>(slack);
  // Of a quiet stream with outliers, whose sums are not normal: so many outliers in a row.
  threshold_ = static_cast<float>(
      std::max(variance / (2 * slack) * caution, most_in_a_row * (most - slack)));
}

// A sum that falls below 0 begins anew. By its bits: of a comparison the compiler makes a branch,
// which nobody can predict and which takes longer than all the rest.
inline void ChangePoint::step(Side& side, float more) noexcept {
  const float sum = side.sum + more;
  std::uint32_t bits = 0;
  std::memcpy(&bits, &sum, sizeof bits);
  const std::uint32_t kept = (bits >> 31) - 1;  // all bits, or none
  bits &= kept;
  std::memcpy(&side.sum, &bits, sizeof bits);
  side.length = (side.length + 1) & kept;
}

bool ChangePoint::add_first(float x) noexcept {
  first_[seen_++] = x;
  if (seen_ == warm_up) learn();
  return false;
}

bool ChangePoint::alarm() noexcept {
  since_ = (slower_.sum > threshold_ ? slower_ : faster_).length;
  // An alarm takes about as many: those before the change are few.
  change_ = std::exp(median(recent_, recent_ + recent));
  seen_ = 0;
  return true;
}

void ChangePoint::follow_groups() noexcept {
  const double variance = std::max(static_cast<double>(variance_), slow_variance_);
  const double found = std::min(group_sum_ * group_sum_ / (block * group), 6 * variance);
  slow_variance_ += (found - slow_variance_) / group_memory;
  group_sum_ = 0;
  in_group_ = 0;
}

void ChangePoint::end_block() noexcept {
  constexpr auto least = static_cast<float>(smallest_spread * smallest_spread);
  const float found = std::min(block_sum_ * block_sum_ / block, 6 * variance_);
  variance_ = std::max(least, variance_ + (found - variance_) / static_cast<float>(block_memory));
  group_sum_ += static_cast<double>(block_sum_);
  block_sum_ = 0;
  in_block_ = 0;
  if (++in_group_ == group) follow_groups();
  const auto spread = static_cast<double>(spread_);
  dependence_ =
      std::max(1.0, std::max(static_cast<double>(variance_), slow_variance_) / (spread * spread));
  set_threshold();
}

bool ChangePoint::add_log(float x) noexcept {
  constexpr auto turn = static_cast<float>(2 / level_memory);
  static constexpr float follow[] = {1 - turn, 1 + turn};
  if (__builtin_expect(seen_ < warm_up, 0)) return add_first(x);
  const auto off = static_cast<float>(static_cast<double>(x) - level_);
  const float below = off < most_ ? off : most_;
  const float residual = below > -most_ ? below : -most_;
  recent_[latest_] = off;
  latest_ = static_cast<std::uint8_t>(latest_ + 1U < recent ? latest_ + 1U : 0U);
  step(slower_, residual - slack_);
  step(faster_, -residual - slack_);
  if (__builtin_expect(slower_.sum > threshold_ || faster_.sum > threshold_, 0)) return alarm();
  level_ += static_cast<double>(residual) * (1 / level_memory);
  // Half of the residuals lie within the median deviation.
  const bool wide = std::fabs(off) > spread_ * static_cast<float>(normal_deviation);
  spread_ = std::max(static_cast<float>(smallest_spread), spread_ * follow[wide ? 1 : 0]);
  block_sum_ += residual;
  if (__builtin_expect(++in_block_ == block, 0)) end_block();
  return false;
}

void HighQuantile::add_log(float x) noexcept {
  constexpr double rise = 0.03;
  const auto found = static_cast<double>(x);
  if (seen_ < warm_up) {
    log_ = seen_ == 0 ? found : std::max(log_, found);
    ++seen_;
    return;
  }
  log_ += found > log_ ? rise * 0.99 : -rise * 0.01;
}

double HighQuantile::value() const noexcept { return seen_ < warm_up ? 0 : std::exp(log_); }

}  // namespace nvspan::reader
