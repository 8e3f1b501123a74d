// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/cause/stand_out.hpp"

#include "core/statistics/order.hpp"
#include "core/statistics/student_t.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace nvspan::ranks {
namespace {

constexpr std::size_t most_blocks = 32;
constexpr std::size_t most_shuffled = 256;  // ranks, above which the t-distribution alone decides
constexpr std::size_t enough = 24;          // shuffles that came as far: more would say the same
constexpr double most_work = 3e8;           // values that are shuffled
constexpr double least_error = 1;           // ns: what no clock resolves

// xorshift64*: shuffles need no more, and are the same everywhere.
class Random {
 public:
  std::uint32_t below(std::uint32_t count) noexcept {
    state_ ^= state_ >> 12;
    state_ ^= state_ << 25;
    state_ ^= state_ >> 27;
    const std::uint64_t high = (state_ * 0x2545F4914F6CDD1DULL) >> 32;
    return static_cast<std::uint32_t>(high * count >> 32);
  }

 private:
  std::uint64_t state_ = 0x9E3779B97F4A7C15ULL;
};

// The trimmed mean of blocks, and its standard error by the winsorized variance (Yuen). Sorts.
Standing standing_of(std::vector<double>& values) {
  std::sort(values.begin(), values.end());
  const std::size_t count = values.size();
  const std::size_t cut = count / 5;
  const std::size_t kept = count - 2 * cut;
  double sum = 0;
  for (std::size_t i = cut; i < count - cut; ++i) sum += values[i];
  Standing found;
  found.mean = sum / static_cast<double>(kept);
  const double ends = static_cast<double>(cut) * (values[cut] + values[count - cut - 1]);
  const double middle = (sum + ends) / static_cast<double>(count);
  double squares = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const double value = values[std::clamp(i, cut, count - cut - 1)];
    squares += (value - middle) * (value - middle);
  }
  const auto h = static_cast<double>(kept);
  found.error = std::max(least_error, std::sqrt(squares / (h * (h - 1))));
  return found;
}

// How much a step is like the one so many later: the autocorrelations of all ranks together, up to
// the first that is next to nothing.
std::vector<double> correlations(const Series& excess, const std::vector<std::uint32_t>& chosen) {
  const std::size_t count = chosen.size();
  const std::size_t longest = count / 5;
  std::vector<double> sums(longest + 1, 0), values(count);
  for (const std::vector<float>& of_rank : excess) {
    for (std::size_t i = 0; i < count; ++i) values[i] = of_rank[chosen[i]];
    // Single steps that are far off say nothing of the others.
    std::vector<double> sorted = values;
    std::sort(sorted.begin(), sorted.end());
    const double low = sorted[count / 10], high = sorted[count - 1 - count / 10];
    double mean = 0;
    for (double& value : values) mean += value = std::clamp(value, low, high);
    mean /= static_cast<double>(count);
    for (std::size_t lag = 0; lag <= longest; ++lag) {
      for (std::size_t i = lag; i < count; ++i) {
        sums[lag] += (values[i] - mean) * (values[i - lag] - mean);
      }
    }
  }
  std::vector<double> found;
  if (sums[0] <= 0) return found;
  double alike = 1;
  for (std::size_t lag = 1; lag <= longest; ++lag) {
    // Around a mean of the same values they are too small, the more so the more they are alike.
    const double one = sums[lag] / sums[0] + alike / static_cast<double>(count);
    if (one < 0.1) break;
    found.push_back(std::min(one, 1.0));
    alike += 2 * one;
  }
  return found;
}

// How much wider than that of independent steps the variance is of a mean of `steps`; 0: of many.
double variance_of(const std::vector<double>& correlation, std::size_t steps) {
  double sum = 1;
  for (std::size_t lag = 1; lag <= correlation.size(); ++lag) {
    const double part = static_cast<double>(lag) / static_cast<double>(steps);
    if (steps != 0 && part >= 1) break;
    sum += 2 * correlation[lag - 1] * (steps == 0 ? 1 : 1 - part);
  }
  return sum;
}

// How many of the values may be 0 or less where standing_of() is to find a ratio of mean and error
// of at least `ratio`. By Cantelli: of `kept` values with a mean m and a part f of them not above
// 0, the variance is m * m * f / (1 - f) or more, and the winsorized one is no smaller.
std::size_t most_not_above(std::size_t count, double ratio) {
  const std::size_t cut = count / 5;
  const auto kept = static_cast<double>(count - 2 * cut);
  const double part = (kept - 1) / (ratio * ratio + kept - 1);
  return cut + static_cast<std::size_t>(part * kept + 1e-6);
}

}  // namespace

Standings stand_out(const Series& excess, const std::vector<std::uint32_t>& chosen, double alpha) {
  Standings found;
  const std::size_t ranks = excess.size();
  found.ranks.resize(ranks);
  const std::size_t count = chosen.size();
  if (ranks < 2 || count < fewest_blocks) return found;
  const std::vector<double> correlation = correlations(excess, chosen);
  const double alike = variance_of(correlation, 0);
  const std::size_t least = (count + most_blocks - 1) / most_blocks;
  found.block =
      std::clamp(static_cast<std::size_t>(alike), least, std::max(least, count / fewest_blocks));
  const std::size_t blocks = count / found.block;
  found.blocks = blocks;
  // Blocks that are alike themselves say less than so many would.
  const double wider = std::sqrt(std::max(1.0, alike / variance_of(correlation, found.block)));

  std::vector<std::vector<double>> means(blocks, std::vector<double>(ranks));
  for (std::size_t b = 0; b < blocks; ++b) {
    const std::size_t from = b * count / blocks, to = (b + 1) * count / blocks;
    for (std::size_t r = 0; r < ranks; ++r) {
      double sum = 0;
      for (std::size_t i = from; i < to; ++i) sum += excess[r][chosen[i]];
      means[b][r] = sum / static_cast<double>(to - from);
    }
  }
  std::vector<double> values(blocks), ratios(ranks);
  const auto standing_at = [&](std::size_t r) {
    for (std::size_t b = 0; b < blocks; ++b) values[b] = means[b][r];
    return standing_of(values);
  };
  double largest = 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    found.ranks[r] = standing_at(r);
    found.ranks[r].error *= wider;
    for (std::size_t b = 0; b < blocks; ++b) means[b][r] -= found.ranks[r].mean;
    ratios[r] = found.ranks[r].mean;
  }
  // Where ranks are late in turn, each of them is later than the median of the others on average:
  // no more than half of the ranks is above what is taken off for that.
  const auto all = static_cast<double>(ranks);
  const double typical = core::percentile(ratios, std::floor(all / 2 + 1) / all);
  const double common = ranks > 2 ? std::max(0.0, typical) : 0;
  for (std::size_t r = 0; r < ranks; ++r) {
    found.ranks[r].mean -= common;
    ratios[r] = found.ranks[r].mean / found.ranks[r].error;
    largest = std::max(largest, ratios[r]);
  }
  const std::size_t cut = blocks / 5;
  const auto degrees = static_cast<double>(blocks - 2 * cut - 1);
  found.needed = core::t_quantile(alpha / static_cast<double>(ranks), degrees);
  found.half = core::t_quantile(0.025, degrees);
  for (std::size_t r = 0; r < ranks; ++r) {
    found.ranks[r].stands = ratios[r] >= found.needed;
    if (found.ranks[r].stands) found.ranks[r].chance = alpha;
  }
  if (ranks > most_shuffled || largest < found.needed) return found;

  // Where ranks are alike, the same values might have been those of other ranks, block by block:
  // those around each rank's mean, as the delay of a late rank would hide it among all.
  const auto size = static_cast<double>(blocks * ranks);
  const auto draws =
      static_cast<std::size_t>(std::clamp(10 / alpha, 1000.0, std::max(1000.0, most_work / size)));
  std::vector<std::size_t> reached(ranks, 0);
  double lowest = largest;
  for (std::size_t r = 0; r < ranks; ++r) {
    if (found.ranks[r].stands) lowest = std::min(lowest, ratios[r]);
  }
  // Most ranks of a draw need no sorting: they cannot come as far as the lowest that stands.
  const std::size_t most = most_not_above(blocks, lowest);
  std::vector<std::uint32_t> not_above(ranks);
  Random random;
  std::size_t drawn = 0;
  for (; drawn < draws; ++drawn) {
    for (std::vector<double>& block : means) {
      for (auto i = static_cast<std::uint32_t>(ranks); i > 1; --i) {
        std::swap(block[i - 1], block[random.below(i)]);
      }
    }
    std::fill(not_above.begin(), not_above.end(), 0);
    for (const std::vector<double>& block : means) {
      for (std::size_t r = 0; r < ranks; ++r) not_above[r] += block[r] <= 0 ? 1 : 0;
    }
    double furthest = 0;
    for (std::size_t r = 0; r < ranks; ++r) {
      if (not_above[r] > most) continue;
      const Standing one = standing_at(r);
      furthest = std::max(furthest, one.mean / one.error);
    }
    bool all = true;
    for (std::size_t r = 0; r < ranks; ++r) {
      if (!found.ranks[r].stands) continue;
      reached[r] += furthest >= ratios[r] ? 1 : 0;
      all = all && reached[r] >= enough;
    }
    if (all) break;
  }
  for (std::size_t r = 0; r < ranks; ++r) {
    Standing& one = found.ranks[r];
    if (!one.stands) continue;
    const auto of = static_cast<double>(std::min(drawn + 1, draws));
    one.chance = static_cast<double>(reached[r] + 1) / (of + 1);
    one.stands = reached[r] == 0 || one.chance <= alpha;
  }
  return found;
}

}  // namespace nvspan::ranks
