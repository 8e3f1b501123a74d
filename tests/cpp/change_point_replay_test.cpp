// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The noise of real runs: their steps' durations, blocks of which are drawn again and again. How
// often a level that never changes raises an alarm, and how soon a change of 5 % is found.
// tests/data/steps has the runs; README.md there says how they were made.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "expect.hpp"
#include "reader/watch/change_point.hpp"

namespace {

using nvspan::reader::ChangePoint;

constexpr double unit = 1.0 / 20'000;  // of the file's logarithms
constexpr std::size_t block = 256;     // steps that stay together
constexpr std::size_t steps = 1'000'000;
constexpr std::size_t period = 5000;  // steps between two changes
// Stretches of some hundred steps in which a run is slower are changes: 44 of a million at most.
constexpr std::size_t most_alarms = 60;

std::vector<double> residuals_of(const char* path) {
  std::ifstream file(path, std::ios::binary);
  const std::vector<char> bytes((std::istreambuf_iterator<char>(file)),
                                std::istreambuf_iterator<char>());
  std::vector<double> found;
  for (std::size_t i = 0; i + 1 < bytes.size(); i += 2) {
    const auto low = static_cast<unsigned char>(bytes[i]);
    const auto high = static_cast<unsigned char>(bytes[i + 1]);
    found.push_back(unit * static_cast<std::int16_t>(low | high << 8));
  }
  return found;
}

class Steps {
 public:
  Steps(const std::vector<double>& residuals, std::uint64_t seed)
      : residuals_(residuals), chance_(seed), first_(0, residuals.size() - block) {}

  double next(double factor) {
    if (left_ == 0) {
      at_ = first_(chance_);
      left_ = block;
    }
    --left_;
    return 5e6 * factor * std::exp(residuals_[at_++]);
  }

 private:
  const std::vector<double>& residuals_;
  std::mt19937_64 chance_;
  std::uniform_int_distribution<std::size_t> first_;
  std::size_t at_ = 0;
  std::size_t left_ = 0;
};

std::size_t false_alarms(const std::vector<double>& residuals, std::uint64_t seed) {
  const auto level = std::make_unique<ChangePoint>();
  Steps source(residuals, seed);
  std::size_t alarms = 0;
  for (std::size_t i = 0; i < steps; ++i) alarms += level->add(source.next(1)) ? 1 : 0;
  return alarms;
}

struct Delays {
  std::vector<std::size_t> found;  // steps after a change, sorted
  std::size_t missed = 0;
  std::size_t other = 0;  // alarms without a change
};

Delays delays_of(const std::vector<double>& residuals, double factor, std::uint64_t seed) {
  const auto level = std::make_unique<ChangePoint>();
  Steps source(residuals, seed);
  Delays delays;
  for (std::size_t i = 0; i < steps / period; ++i) {
    bool told = i == 0;
    for (std::size_t k = 0; k < period; ++k) {
      if (!level->add(source.next(i % 2 == 1 ? factor : 1))) continue;
      if (told) {
        ++delays.other;
      } else {
        delays.found.push_back(k + 1);
      }
      told = true;
    }
    if (!told) ++delays.missed;
  }
  std::sort(delays.found.begin(), delays.found.end());
  return delays;
}

// The deviation of one step, robust, and of the mean of many by the square root of their number.
struct Spread {
  double single = 0;
  double together = 0;
};

Spread spread_of(std::vector<double> residuals) {
  std::vector<double> sizes;
  for (const double x : residuals) sizes.push_back(std::fabs(x));
  std::nth_element(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(sizes.size() / 2),
                   sizes.end());
  Spread spread;
  spread.single = sizes[sizes.size() / 2] / 0.6745;
  const double most = std::max(3 * spread.single, 0.05);
  double mean = 0;
  for (double& x : residuals) {
    x = std::max(-most, std::min(most, x));
    mean += x / static_cast<double>(residuals.size());
  }
  constexpr std::size_t together = 64;
  double squares = 0;
  std::size_t blocks = 0;
  for (std::size_t i = 0; i + together <= residuals.size(); i += together, ++blocks) {
    double sum = 0;
    for (std::size_t k = 0; k < together; ++k) sum += residuals[i + k] - mean;
    squares += sum * sum / together;
  }
  spread.together = std::sqrt(squares / static_cast<double>(blocks));
  return spread;
}

void test_the_noise_of_a_run(const char* path) {
  const std::vector<double> residuals = residuals_of(path);
  EXPECT(residuals.size() > 4 * block);
  if (residuals.size() <= 4 * block) return;
  const Spread spread = spread_of(residuals);
  // Lorden: no test with so few false alarms finds a change sooner, in the mean.
  const double change = std::log(1.05);
  const double least =
      2 * spread.together * spread.together * std::log(600'000.0) / (change * change);
  const std::size_t alarms = false_alarms(residuals, 7);
  const Delays delays = delays_of(residuals, 1.05, 11);
  const std::size_t count = delays.found.size();
  std::printf(
      "%s: %zu steps, a step +- %.2f %%, together +- %.2f %%: %zu false alarms in %zu; of %zu "
      "changes of 5 %% %zu missed, %zu other alarms; steps until found: median %zu, most %zu; no "
      "test needs fewer than %.1f\n",
      path, residuals.size(), 100 * spread.single, 100 * spread.together, alarms, steps,
      steps / period - 1, delays.missed, delays.other, count == 0 ? 0 : delays.found[count / 2],
      count == 0 ? 0 : delays.found.back(), least);
  EXPECT(alarms <= most_alarms);
  EXPECT(delays.other <= most_alarms);
}

}  // namespace

int main(int count, char** arguments) {
  for (int i = 1; i < count; ++i) test_the_noise_of_a_run(arguments[i]);
  return nvspan_test::failures() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
