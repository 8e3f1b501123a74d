// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
//
// Two clocks that differ in rate, read with errors: what ClockFit tells is never further off than
// it says, whether between, before or after the points, and after one point as after many. And two
// clocks that a thread reads together, though it loses its core meanwhile.

#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <thread>

#include "core/os/clock.hpp"
#include "cuda/clock/clock_fit.hpp"

using nvspan::cuda::ClockFit;

namespace {

int failures = 0;

void expect(bool condition, const char* what, double value) {
  if (condition) return;
  std::fprintf(stderr, "failed: %s: %g\n", what, value);
  ++failures;
}

constexpr double nominal = 2.1;  // ticks a ns

// Points of a clock that is `ppm` off, each up to `half_width` ns wrong, at growing distances.
void errors_are_within_what_is_said(double ppm, double half_width, unsigned seed) {
  std::mt19937 random(seed);
  std::uniform_real_distribution<double> wrong(-half_width, half_width);
  constexpr double zero = 1.7e18;
  const double slope = nominal * (1 + ppm * 1e-6);
  const auto truth = [&](double global) { return 5e15 + (global - zero) * slope; };
  ClockFit fit;
  double at = zero;
  double worst_at_once = 0;
  for (const double step : {0.0, 5e6, 5e6, 50e6, 50e6, 200e6, 200e6, 1e9, 1e9, 1e9, 1e9}) {
    at += step;
    fit.add({static_cast<int64_t>(at), static_cast<int64_t>(truth(at) + wrong(random) * slope),
             half_width});
    for (const double away : {-2e9, -50e6, -1e6, 0.0, 1e6, 20e6, 50e6, 1e9}) {
      const auto global = static_cast<int64_t>(at + away);
      double said = 0;
      const int64_t stamp = fit.to_stamp(global, nominal, said);
      const double error =
          std::fabs(static_cast<double>(stamp) - truth(static_cast<double>(global))) / slope;
      constexpr double rounding = 400;  // of doubles at 1.7e18
      expect(error <= said + rounding, "an error above what is said, by ns", error - said);
      if (away == 0.0) worst_at_once = std::fmax(worst_at_once, said);
    }
  }
  expect(worst_at_once <= 3 * half_width + 1, "uncertain at a point", worst_at_once);
  expect(fit.drift_after(50e6, nominal) < 150, "uncertain soon after many", 0);
}

// Whatever the points are like.
void times_stay_in_order() {
  std::mt19937 random(1);
  std::uniform_real_distribution<double> width(100, 5e6);
  std::uniform_real_distribution<double> wrong(-1, 1);
  for (int turn = 0; turn < 200; ++turn) {
    ClockFit fit;
    int64_t at = 1'000'000'000;
    for (int i = 0; i < 20; ++i, at += 3'000'000) {
      const double half_width = width(random);
      const double stamp = (static_cast<double>(at) + wrong(random) * half_width) * nominal;
      fit.add({at, static_cast<int64_t>(stamp), half_width});
    }
    int64_t before = 0;
    for (int64_t time = 990'000'000; time < at + 10'000'000; time += 100'000) {
      double said = 0;
      const int64_t stamp = fit.to_stamp(time, nominal, said);
      expect(stamp > before, "time runs backwards", static_cast<double>(before - stamp));
      before = stamp;
    }
  }
}

// Five of six readings are interrupted.
void a_pair_is_of_one_moment() {
  for (int undisturbed = 0; undisturbed < 6; ++undisturbed) {
    int calls = 0;
    const auto counter = [&] {
      const uint64_t now = nvspan::core::monotonic_ns();
      const int call = calls++;
      if (call % 2 == 0 && call / 2 != undisturbed) {
        std::this_thread::sleep_for(std::chrono::milliseconds(2));
      }
      return now;
    };
    const nvspan::core::ClockPair pair = nvspan::core::read_together(counter);
    const auto apart = static_cast<double>(pair.ticks) - static_cast<double>(pair.monotonic);
    expect(std::fabs(apart) < 500'000, "ns between two readings of one clock", apart);
  }
}

}  // namespace

int main() {
  for (unsigned seed = 1; seed <= 200; ++seed) {
    for (const double ppm : {-90.0, -10.0, 0.0, 35.0, 90.0}) {
      errors_are_within_what_is_said(ppm, 750, seed);
      errors_are_within_what_is_said(ppm, 5000, seed);
    }
  }
  ClockFit two;
  two.add({1'000'000, 2'100'000, 750});
  expect(two.drift_after(50e6, nominal) > 4000, "one point cannot tell a rate", 0);
  two.add({6'000'000, 12'000'000, 800});  // too close, and worse: ignored
  two.add({500'000, 0, 100});             // not in order: ignored
  double said = 0;
  expect(two.to_stamp(1'000'000, nominal, said) == 2'100'000 && said == 750, "the better", said);
  two.add({6'500'000, 13'650'000, 100});  // too close, and better
  expect(two.to_stamp(6'500'000, nominal, said) == 13'650'000 && said == 100, "the best", said);
  two.add({106'500'000, 223'650'000, 100});
  expect(two.drift_after(50e6, nominal) <= 101, "100 ms tell a rate", 0);
  times_stay_in_order();
  a_pair_is_of_one_moment();
  std::printf("%d failures\n", failures);
  return failures == 0 ? 0 : 1;
}
