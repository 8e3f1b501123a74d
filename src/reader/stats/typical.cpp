// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/stats/typical.hpp"

#include <algorithm>

namespace nvspan::reader {
namespace {

constexpr double medians = 3, quartiles = 2, least_outlier = 10'000;  // ns

double begin_of(std::uint32_t bucket) {
  return core::log_bucket_begin(bucket / core::log_buckets, bucket % core::log_buckets);
}

}  // namespace

void FirstCalls::keep(std::uint64_t duration) {
  --left_;
  const unsigned octave = core::log_octave(duration);
  const std::uint32_t number = octave * core::log_buckets + core::log_bucket(duration, octave);
  auto at = std::lower_bound(
      buckets_.begin(), buckets_.end(), number,
      [](const Bucket& bucket, std::uint32_t wanted) { return bucket.number < wanted; });
  if (at == buckets_.end() || at->number != number) at = buckets_.insert(at, Bucket{number, {}});
  Sum& sum = at->sum;
  const auto real = static_cast<double>(duration);
  ++sum.calls;
  sum.time += real;
  sum.squares += real * real;
}

FirstCalls::Sum FirstCalls::longer_than(double limit) const {
  Sum sum;
  for (auto at = buckets_.rbegin(); at != buckets_.rend() && begin_of(at->number) > limit; ++at) {
    sum.calls += at->sum.calls;
    sum.time += at->sum.time;
    sum.squares += at->sum.squares;
  }
  return sum;
}

Typical typical_of(const core::LogHistogram& durations, const FirstCalls& first,
                   std::uint64_t calls, double sum, bool nests) {
  Typical found;
  if (calls == 0) return found;
  found.mean = sum / static_cast<double>(calls);
  if (nests) return found;
  found.limit = std::max({medians * durations.percentile(0.5, calls),
                          quartiles * durations.percentile(0.75, calls), least_outlier});
  std::uint64_t usual = 0;
  double usual_time = 0;
  durations.for_each([&](unsigned octave, unsigned bucket, std::uint64_t count) {
    const double time = static_cast<double>(count) * core::log_bucket_value(octave, bucket);
    if (core::log_bucket_begin(octave, bucket) > found.limit) {
      found.outliers += count;
      found.outlier_time += time;
    } else {
      usual += count;
      usual_time += time;
    }
  });
  if (found.outliers == 0 || usual == 0) return found;
  found.mean = usual_time / static_cast<double>(usual);
  found.warmup = first.longer_than(found.limit);
  return found;
}

}  // namespace nvspan::reader
