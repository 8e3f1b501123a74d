// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Quantiles of a logarithmic histogram, and the buckets that the recorder and its reader share.

#include "core/log_histogram.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "expect.hpp"

namespace {

using nvspan::core::LogHistogram;

void small_values_are_exact() {
  for (std::uint64_t value = 0; value < 128; ++value) {
    LogHistogram histogram;
    histogram.add(value, 3);
    // Zero has the bucket of one.
    EXPECT(histogram.percentile(0.5, 3) == static_cast<double>(std::max<std::uint64_t>(value, 1)));
  }
}

void quantiles_are_close() {
  std::mt19937_64 random(1);
  std::vector<std::uint64_t> values;
  LogHistogram histogram;
  for (int i = 0; i < 20000; ++i) {
    values.push_back(128 + (random() >> (random() % 60 + 3)));
    histogram.add(values.back());
  }
  std::sort(values.begin(), values.end());
  for (const double fraction : {0.0, 0.1, 0.5, 0.9, 0.99, 0.999, 1.0}) {
    const double wanted = std::ceil(fraction * static_cast<double>(values.size()));
    const auto rank = static_cast<std::size_t>(std::max(1.0, wanted)) - 1;
    const auto exact = static_cast<double>(values[rank]);
    EXPECT(std::abs(histogram.percentile(fraction, values.size()) - exact) <= 0.004 * exact);
  }
  EXPECT(LogHistogram().percentile(0.5, 0) == 0);
}

void a_value_lies_in_its_bucket() {
  std::mt19937_64 random(2);
  for (int i = 0; i < 20000; ++i) {
    const std::uint64_t value = std::max<std::uint64_t>(random() >> (random() % 64), 1);
    const unsigned octave = nvspan::core::log_octave(value);
    const unsigned bucket = nvspan::core::log_bucket(value, octave);
    const double width = std::ldexp(1.0 / nvspan::core::log_buckets, static_cast<int>(octave));
    const double begin = nvspan::core::log_bucket_begin(octave, bucket);
    const auto real = static_cast<double>(value);
    EXPECT(begin <= real && real <= begin + width);
    EXPECT(nvspan::core::log_bucket_middle(octave, bucket) == begin + width / 2);
  }
  // What is past the octaves that somebody has lies in the last bucket of the last.
  EXPECT(nvspan::core::log_bucket(std::uint64_t{1} << 60, 47) == nvspan::core::log_buckets - 1);
  EXPECT(nvspan::core::log_octave(0) == 0 && nvspan::core::log_bucket(0, 0) == 0);
}

}  // namespace

int main() {
  small_values_are_exact();
  quantiles_are_close();
  a_value_lies_in_its_bucket();
  return nvspan_test::failures() == 0 ? 0 : 1;
}
