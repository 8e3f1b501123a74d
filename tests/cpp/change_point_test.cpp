// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Durations with the noise of real runs: neighbours depend on one another, the tail is heavy. How
// often a level that never changes raises an alarm, and how soon a change of 5 % does.

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <random>

#include "expect.hpp"
#include "reader/watch/change_point.hpp"

namespace {

using nvspan::reader::ChangePoint;
using nvspan::reader::HighQuantile;

struct Noise {
  double spread;      // of logarithms
  double dependence;  // of a duration on the one before
  double tail;        // how many have a delay beside
  double delay;       // its size, as a logarithm
  std::uint64_t
      every;  // so many, one is longer by half, such as one that writes a checkpoint; 0: none
};

// Student's t with three degrees of freedom, autoregressive, with delays.
class Steps {
 public:
  Steps(const Noise& noise, std::uint64_t seed) : noise_(noise), chance_(seed) {}

  double next(double factor) {
    const double shock = shock_(chance_) / std::sqrt(3.0);
    around_ =
        noise_.dependence * around_ + std::sqrt(1 - noise_.dependence * noise_.dependence) * shock;
    double x = noise_.spread * around_;
    if (share_(chance_) < noise_.tail) x += std::fabs(normal_(chance_)) * noise_.delay;
    if (noise_.every != 0 && ++count_ % noise_.every == 0) x += std::log(1.5);
    return 10e6 * factor * std::exp(x);
  }

 private:
  Noise noise_;
  std::mt19937_64 chance_;
  std::student_t_distribution<double> shock_{3};
  std::normal_distribution<double> normal_;
  std::uniform_real_distribution<double> share_;
  double around_ = 0;
  std::uint64_t count_ = 0;
};

std::size_t false_alarms(const Noise& noise, std::size_t steps, std::uint64_t seed) {
  const auto level = std::make_unique<ChangePoint>();
  Steps source(noise, seed);
  std::size_t alarms = 0;
  for (std::size_t i = 0; i < steps; ++i) alarms += level->add(source.next(1)) ? 1 : 0;
  return alarms;
}

// After how many steps a change is found, of 1 million steps with one in every 5,000.
struct Delays {
  std::size_t longest = 0;
  std::size_t changes = 0;
  std::size_t missed = 0;
  std::size_t other = 0;  // alarms without a change
  double worst = 0;       // how far its size is from what is said, as a logarithm
};
Delays delays_of(const Noise& noise, double factor, std::uint64_t seed) {
  const auto level = std::make_unique<ChangePoint>();
  Steps source(noise, seed);
  Delays found;
  bool slow = false;
  for (std::size_t i = 0; i < 200; ++i) {
    bool told = i == 0;
    for (std::size_t k = 0; k < 5000; ++k) {
      if (!level->add(source.next(slow ? factor : 1))) continue;
      if (told) {
        ++found.other;
        continue;
      }
      told = true;
      found.longest = std::max(found.longest, k + 1);
      const double wanted = slow ? factor : 1 / factor;
      found.worst = std::max(found.worst, std::fabs(std::log(level->change() / wanted)));
    }
    if (!told) ++found.missed;
    if (i != 0) ++found.changes;
    slow = !slow;
  }
  return found;
}

constexpr Noise usual{0.015, 0.5, 0.01, 1.0, 0};

void test_a_level_that_stays_raises_no_alarm() {
  const Noise noises[] = {usual,
                          {0.002, 0.5, 0.02, 1.0, 0},
                          {0.02, 0.3, 0.02, 1.5, 100},
                          {0.03, 0.2, 0.05, 1.0, 50},
                          {0.1, 0.5, 0.02, 1.0, 0}};
  for (const Noise& noise : noises) {
    EXPECT_EQUAL(std::to_string(false_alarms(noise, 600'000, 7)), "0");
  }
}

void test_five_percent_are_found_within_fifty_steps() {
  const Delays delays = delays_of(usual, 1.05, 11);
  std::printf("5 %%: %zu changes in 1,000,000 steps, the longest delay %zu steps\n", delays.changes,
              delays.longest);
  EXPECT(delays.longest <= 50);
  std::printf("its size is off by %.3f at most\n", delays.worst);
  EXPECT(delays.worst < 0.05);
  EXPECT_EQUAL(std::to_string(delays.changes), "199");
  EXPECT_EQUAL(std::to_string(delays.missed), "0");
  EXPECT_EQUAL(std::to_string(delays.other), "0");
}

void test_a_large_change_of_a_noisy_range_is_found() {
  const Delays delays = delays_of(Noise{0.2, 0.3, 0.02, 1.0, 0}, 2, 13);
  EXPECT(delays.longest <= 50);
  EXPECT_EQUAL(std::to_string(delays.missed + delays.other), "0");
}

void test_a_slow_drift_is_no_change() {
  const auto level = std::make_unique<ChangePoint>();
  Steps source(usual, 17);
  std::size_t alarms = 0;
  for (std::size_t i = 0; i < 1'000'000; ++i) {
    alarms += level->add(source.next(1 + 0.2 * static_cast<double>(i) / 1e6)) ? 1 : 0;
  }
  EXPECT_EQUAL(std::to_string(alarms), "0");
}

void test_odd_durations_do_no_harm() {
  ChangePoint level;
  HighQuantile high;
  for (std::size_t i = 0; i < 5000; ++i) {
    const double duration = i % 3 == 0 ? 0 : i % 7 == 0 ? 1e300 : 1e-300;
    level.add(duration);
    high.add(duration);
  }
  EXPECT(!std::isnan(high.value()));
  ChangePoint same;
  std::size_t alarms = 0;
  for (std::size_t i = 0; i < 10'000; ++i) alarms += same.add(5) ? 1 : 0;
  EXPECT_EQUAL(std::to_string(alarms), "0");
}

void test_the_high_quantile_follows() {
  HighQuantile high;
  Steps source(Noise{0.05, 0, 0, 0, 0}, 19);
  for (std::size_t i = 0; i < HighQuantile::warm_up; ++i) {
    EXPECT(high.value() == 0);
    high.add(source.next(1));
  }
  std::size_t above = 0;
  constexpr std::size_t steps = 200'000;
  for (std::size_t i = 0; i < steps; ++i) {
    const double duration = source.next(i < steps / 2 ? 1 : 3);
    above += duration > high.value() ? 1 : 0;
    high.add(duration);
  }
  const double share = static_cast<double>(above) / steps;
  EXPECT(share > 0.005 && share < 0.02);
}

}  // namespace

int main() {
  test_a_level_that_stays_raises_no_alarm();
  test_five_percent_are_found_within_fifty_steps();
  test_a_large_change_of_a_noisy_range_is_found();
  test_a_slow_drift_is_no_change();
  test_odd_durations_do_no_harm();
  test_the_high_quantile_follows();
  return nvspan_test::failures() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
