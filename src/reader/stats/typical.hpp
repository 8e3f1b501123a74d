// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a name's calls usually take. A call is an outlier if it is longer than three medians, than
// two third quartiles, and than 10 us; outliers among the first calls of a thread are its warm-up.

#pragma once

#include "core/log_histogram.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::reader {

// The durations of the first calls of threads.
class FirstCalls {
 public:
  static constexpr std::uint32_t most = 16;  // of a thread

  struct Sum {
    std::uint64_t calls = 0;
    double time = 0;  // ns
    double squares = 0;
  };

  void begin_thread() noexcept { left_ = most; }
  [[gnu::always_inline]] void add(std::uint64_t duration) {
    if (__builtin_expect(left_ != 0, 0)) keep(duration);
  }
  // Of the calls in buckets that begin after `limit`.
  Sum longer_than(double limit) const;

 private:
  [[gnu::noinline]] void keep(std::uint64_t duration);

  std::uint32_t left_ = 0;
  struct Bucket {
    std::uint32_t number;  // of octave and bucket
    Sum sum;
  };
  std::vector<Bucket> buckets_;  // by number
};

struct Typical {
  double limit = 0;  // ns; calls in buckets that begin after it are outliers
  double mean = 0;   // ns, of the others: within 0.4 % where there are outliers
  std::uint64_t outliers = 0;
  double outlier_time = 0;  // ns, within 0.4 %
  FirstCalls::Sum warmup;   // of them
};

// `nests`: calls lie within others, which are longer for that alone: then none is an outlier.
Typical typical_of(const core::LogHistogram& durations, const FirstCalls& first,
                   std::uint64_t calls, double sum, bool nests);

}  // namespace nvspan::reader
