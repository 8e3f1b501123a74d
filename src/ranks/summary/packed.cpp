// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/summary/packed.hpp"

#include <cstdint>

namespace nvspan::ranks {
namespace {

constexpr std::uint64_t all_buckets = std::uint64_t{core::log_octaves} * core::log_buckets;

// The buckets of packed counts, one after the other.
class Buckets {
 public:
  explicit Buckets(std::string_view packed) : from_(packed) { next(); }

  bool at_end() const noexcept { return at_end_; }
  std::uint64_t bucket() const noexcept { return bucket_; }
  std::uint64_t count() const noexcept { return count_; }
  void next() {
    at_end_ = from_.at_end();
    if (at_end_) return;
    bucket_ += from_.count();
    count_ = from_.count();
    if (bucket_ >= all_buckets) throw SummaryError("the summary is damaged");
  }

 private:
  Unpacker from_;
  std::uint64_t bucket_ = 0;
  std::uint64_t count_ = 0;
  bool at_end_ = false;
};

class BucketPacker {
 public:
  explicit BucketPacker(std::string& to) : to_(to) {}
  void add(std::uint64_t bucket, std::uint64_t count) {
    to_.count(bucket - last_);
    to_.count(count);
    last_ = bucket;
  }

 private:
  Packer to_;
  std::uint64_t last_ = 0;
};

}  // namespace

std::string packed_histogram(const core::LogHistogram& histogram) {
  std::string packed;
  BucketPacker to(packed);
  histogram.for_each([&](unsigned octave, unsigned bucket, std::uint64_t count) {
    to.add(std::uint64_t{octave} * core::log_buckets + bucket, count);
  });
  return packed;
}

void add_packed(std::string_view packed, core::LogHistogram& to) {
  for (Buckets from(packed); !from.at_end(); from.next()) {
    const auto octave = static_cast<unsigned>(from.bucket() / core::log_buckets);
    to.add_to(octave, static_cast<unsigned>(from.bucket() % core::log_buckets), from.count());
  }
}

std::string merged_histograms(std::string_view one, std::string_view other) {
  std::string packed;
  packed.reserve(one.size() > other.size() ? one.size() : other.size());
  BucketPacker to(packed);
  Buckets a(one);
  Buckets b(other);
  while (!a.at_end() || !b.at_end()) {
    const bool takes_a = !a.at_end() && (b.at_end() || a.bucket() <= b.bucket());
    const bool takes_b = !b.at_end() && (a.at_end() || b.bucket() <= a.bucket());
    const std::uint64_t bucket = takes_a ? a.bucket() : b.bucket();
    to.add(bucket, (takes_a ? a.count() : 0) + (takes_b ? b.count() : 0));
    if (takes_a) a.next();
    if (takes_b) b.next();
  }
  return packed;
}

}  // namespace nvspan::ranks
