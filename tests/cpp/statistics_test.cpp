// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Percentiles, the median and its distance, and Student's t.

#include "core/statistics/order.hpp"
#include "core/statistics/student_t.hpp"

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "expect.hpp"

namespace {

using namespace nvspan;
using Values = std::vector<std::int64_t>;

std::int64_t percentile(Values values, double fraction) {
  return core::percentile(values, fraction);
}

void a_percentile_is_the_nearest_rank() {
  EXPECT(percentile({7}, 0) == 7 && percentile({7}, 0.5) == 7 && percentile({7}, 1) == 7);
  EXPECT(percentile({4, 1, 3, 2}, 0) == 1);
  EXPECT(percentile({4, 1, 3, 2}, 0.25) == 1);
  EXPECT(percentile({4, 1, 3, 2}, 0.26) == 2);
  EXPECT(percentile({4, 1, 3, 2}, 0.5) == 2);
  EXPECT(percentile({4, 1, 3, 2}, 0.9) == 4);
  EXPECT(percentile({5, 1, 3}, 0.5) == 3);
  // A whole number of hundredths is no more for being rounded.
  for (std::size_t hundredth = 1; hundredth <= 100; ++hundredth) {
    EXPECT(core::nearest_rank(static_cast<double>(hundredth) / 100, 100) == hundredth - 1);
    EXPECT(core::nearest_rank(static_cast<double>(hundredth) / 100, 700) == 7 * hundredth - 1);
  }
}

void the_median_and_its_distance() {
  Values values = {1, 2, 3, 4, 100};
  const std::int64_t median = core::median(values);
  EXPECT(median == 3);
  EXPECT(std::abs(core::robust_deviation(values, median) - 1.4826) < 1e-12);  // 0 1 1 2 97
  Values even = {10, 1, 4, 2}, odd = {10, 1, 4};
  EXPECT(core::median(even) == 2 && core::midpoint(even) == 3);
  EXPECT(core::median(odd) == 4 && core::midpoint(odd) == 4);
}

// The limits of tables: one side, by degrees of freedom.
void students_t() {
  struct Row {
    double chance, freedom, t;
  };
  for (const Row& row : {Row{0.025, 1, 12.7062}, Row{0.025, 4, 2.77645}, Row{0.025, 10, 2.22814},
                         Row{0.025, 19, 2.09302}, Row{0.005, 11, 3.10581}, Row{0.05, 120, 1.65765},
                         Row{0.001, 15, 3.73283}, Row{0.5, 7, 0}}) {
    EXPECT(std::abs(core::t_quantile(row.chance, row.freedom) - row.t) < 5e-5 * (1 + row.t));
    EXPECT(std::abs(core::t_two_sided(row.t, row.freedom) - 2 * row.chance) < 1e-5);
  }
  const double normal = std::numeric_limits<double>::infinity();
  EXPECT(std::abs(core::t_quantile(0.025, normal) - 1.959964) < 1e-6);
  EXPECT(std::abs(core::t_quantile(0.025, 9e5) - core::t_quantile(0.025, 2e6)) < 1e-5);
  EXPECT(core::t_two_sided(0, 3) == 1 && core::t_two_sided(-2, 8) == core::t_two_sided(2, 8));
}

}  // namespace

int main() {
  a_percentile_is_the_nearest_rank();
  the_median_and_its_distance();
  students_t();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
