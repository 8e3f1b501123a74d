// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The samples of a counter in few points: where there are more, those of one stretch of time are
// one point that has their least, their greatest and their last.

#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

struct CounterPoint {
  std::int64_t time = 0;  // ns, of the first
  double least = 0;
  double greatest = 0;
  double last = 0;
  std::uint64_t count = 1;
};

class CounterPoints {
 public:
  static constexpr std::size_t most_points = 4096;

  // Samples of one thread come in the order of their times.
  void add(std::int64_t time, double value) {
    add(CounterPoint{time, value, value, value, 1});
    if (points_.size() - first_ >= 2 * most_points) coarsen();
  }
  // Those of another thread follow.
  void begin_thread() { first_ = points_.size(); }
  // All of them, at most `most`.
  std::vector<CounterPoint> finish(std::size_t most) {
    std::sort(points_.begin(), points_.end(),
              [](const CounterPoint& a, const CounterPoint& b) { return a.time < b.time; });
    first_ = 0;
    while (points_.size() > std::max<std::size_t>(most, 2) && shift_ < 62) coarsen();
    return std::move(points_);
  }

 private:
  void add(const CounterPoint& point) {
    if (shift_ != 0 && points_.size() > first_ &&
        points_.back().time >> shift_ == point.time >> shift_) {
      CounterPoint& before = points_.back();
      before.least = std::min(before.least, point.least);
      before.greatest = std::max(before.greatest, point.greatest);
      before.last = point.last;
      before.count += point.count;
      return;
    }
    points_.push_back(point);
  }
  void coarsen() {
    std::vector<CounterPoint> old(points_.begin() + static_cast<std::ptrdiff_t>(first_),
                                  points_.end());
    const std::size_t wanted = old.size() - old.size() / 4;
    while (points_.size() - first_ > wanted && shift_ < 62) {
      shift_ = shift_ == 0 ? 8 : shift_ + 1;
      points_.resize(first_);
      for (const CounterPoint& point : old) add(point);
    }
  }

  unsigned shift_ = 0;
  std::size_t first_ = 0;  // of this thread
  std::vector<CounterPoint> points_;
};

}  // namespace nvspan::reader
