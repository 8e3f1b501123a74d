// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// How often durations with a heavy tail exceed the quantile that is followed.

#include "reader/watch/high_quantile.hpp"

#include <cmath>
#include <cstddef>
#include <cstdlib>
#include <random>

#include "expect.hpp"

namespace {

using nvspan::reader::HighQuantile;

// Student's t with three degrees of freedom.
class Steps {
 public:
  explicit Steps(std::uint64_t seed) : chance_(seed) {}

  double next(double factor) {
    constexpr double spread = 0.05;  // of logarithms
    return 10e6 * factor * std::exp(spread * shock_(chance_) / std::sqrt(3.0));
  }

 private:
  std::mt19937_64 chance_;
  std::student_t_distribution<double> shock_{3};
};

void test_odd_durations_do_no_harm() {
  HighQuantile high;
  for (std::size_t i = 0; i < 5000; ++i) {
    high.add(i % 3 == 0 ? 0 : i % 7 == 0 ? 1e300 : 1e-300);
  }
  EXPECT(!std::isnan(high.value()));
}

void test_the_high_quantile_follows() {
  HighQuantile high;
  Steps source(19);
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
  test_odd_durations_do_no_harm();
  test_the_high_quantile_follows();
  return nvspan_test::failures() == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
