// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "core/statistics/student_t.hpp"

#include <algorithm>
#include <cmath>

namespace nvspan::core {
namespace {

constexpr double nearly_normal = 1e6;  // degrees of freedom: t differs by less than 1e-6 there

// The regularized incomplete beta function, by its continued fraction (Lentz's method).
double incomplete_beta(double x, double a, double b) {
  if (x <= 0 || x >= 1) return x <= 0 ? 0 : 1;
  if (x > (a + 1) / (a + b + 2)) return 1 - incomplete_beta(1 - x, b, a);
  const double scale = std::exp(std::lgamma(a + b) - std::lgamma(a) - std::lgamma(b) +
                                a * std::log(x) + b * std::log1p(-x));
  constexpr double tiny = 1e-300, close = 1e-13;
  constexpr int most_terms = 500;
  const auto not_zero = [](double value) { return value == 0 ? tiny : value; };
  double c = 1, d = 1 / std::max(std::abs(1 - (a + b) * x / (a + 1)), tiny);
  double fraction = d;
  for (int m = 1; m < most_terms; ++m) {
    for (const double term : {m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m)),
                              -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))}) {
      d = 1 / not_zero(1 + term * d);
      c = not_zero(1 + term / c);
      fraction *= d * c;
    }
    if (std::abs(d * c - 1) < close) break;
  }
  return scale * fraction / a;
}

}  // namespace

double t_two_sided(double t, double freedom) {
  if (freedom > nearly_normal) return std::erfc(std::abs(t) / std::sqrt(2.0));
  return incomplete_beta(freedom / (freedom + t * t), freedom / 2, 0.5);
}

double t_quantile(double chance, double freedom) {
  double low = 0, high = 1;
  while (t_two_sided(high, freedom) > 2 * chance && high < 1e12) high *= 2;
  for (int i = 0; i < 80; ++i) {
    const double middle = (low + high) / 2;
    (t_two_sided(middle, freedom) > 2 * chance ? low : high) = middle;
  }
  return high;
}

}  // namespace nvspan::core
