// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Counts of values by their logarithm, as HdrHistogram lays them out: each power of two (an octave)
// has 128 buckets of one width, so that a bucket is within 0.4 % of what it holds. Below 128 each
// value has a bucket of its own.

#pragma once

#include "core/statistics/order.hpp"

#include <array>
#include <cmath>
#include <cstdint>
#include <memory>

namespace nvspan::core {

constexpr unsigned log_octaves = 64;
constexpr unsigned log_octave_bits = 7;
constexpr unsigned log_buckets = 1u << log_octave_bits;  // of an octave

inline unsigned log_octave(std::uint64_t value) noexcept {
  return value == 0 ? 0 : 63u - static_cast<unsigned>(__builtin_clzll(value));
}
// In that octave, which is the value's own or a smaller one: then it is the last.
inline unsigned log_bucket(std::uint64_t value, unsigned octave) noexcept {
  if (value == 0) return 0;
  const std::uint64_t above = value - (std::uint64_t{1} << octave);
  const std::uint64_t bucket = octave >= log_octave_bits ? above >> (octave - log_octave_bits)
                                                         : above << (log_octave_bits - octave);
  return bucket < log_buckets ? static_cast<unsigned>(bucket) : log_buckets - 1;
}

// Where a bucket begins, and its middle.
inline double log_bucket_begin(unsigned octave, unsigned bucket) {
  return std::ldexp(1.0 + static_cast<double>(bucket) / log_buckets, static_cast<int>(octave));
}
inline double log_bucket_middle(unsigned octave, unsigned bucket) {
  return std::ldexp(1.0 + (bucket + 0.5) / log_buckets, static_cast<int>(octave));
}
// What stands for the values in a bucket.
inline double log_bucket_value(unsigned octave, unsigned bucket) {
  return octave < log_octave_bits ? std::floor(log_bucket_begin(octave, bucket))
                                  : log_bucket_middle(octave, bucket);
}

// Each percentile is within 0.4 % of the exact one.
class LogHistogram {
 public:
  [[gnu::always_inline]] void add(std::uint64_t value, std::uint64_t count = 1) {
    const unsigned octave = log_octave(value);
    counts_of(octave)[log_bucket(value, octave)] += count;
  }

  // So many values of a bucket, as for_each() names it.
  void add_to(unsigned octave, unsigned bucket, std::uint64_t count) {
    counts_of(octave)[bucket] += count;
  }

  // The nearest rank of `total` values that were added (statistics.hpp).
  double percentile(double fraction, std::uint64_t total) const {
    if (total == 0) return 0;
    const std::uint64_t rank = nearest_rank(fraction, total);
    std::uint64_t seen = 0;
    for (unsigned i = 0; i < log_octaves; ++i) {
      if (octaves_[i] == nullptr) continue;
      for (unsigned j = 0; j < log_buckets; ++j) {
        seen += (*octaves_[i])[j];
        if (seen <= rank) continue;
        return log_bucket_value(i, j);
      }
    }
    return 0;
  }

  // Calls `use` with octave, bucket and count of each bucket that holds a value, in their order.
  template <typename Use>
  void for_each(Use&& use) const {
    for (unsigned i = 0; i < log_octaves; ++i) {
      for (unsigned j = 0; octaves_[i] != nullptr && j < log_buckets; ++j) {
        if ((*octaves_[i])[j] != 0) use(i, j, (*octaves_[i])[j]);
      }
    }
  }

 private:
  using Octave = std::array<std::uint64_t, log_buckets>;

  [[gnu::noinline]] void make_octave(unsigned octave) {
    octaves_[octave] = std::make_unique<Octave>();
  }
  [[gnu::always_inline]] Octave& counts_of(unsigned octave) {
    if (octaves_[octave] == nullptr) make_octave(octave);
    return *octaves_[octave];
  }

  std::array<std::unique_ptr<Octave>, log_octaves> octaves_;
};

}  // namespace nvspan::core
