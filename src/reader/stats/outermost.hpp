// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What ranges of one name that lie within one another count twice: of those that ended, the
// outermost holds the time of all.

#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

// Of one name in one thread at a time. A thread's ranges are all closed before the next begins.
class Outermost {
 public:
  struct Cost {
    double time = 0;      // ns
    double overhead = 0;  // ns of it that are the recorder's

    Cost& operator+=(const Cost& other) {
      time += other.time;
      overhead += other.overhead;
      return *this;
    }
  };

  [[gnu::always_inline]] void open() {
    if (__builtin_expect(++depth_ > 1, 0)) recurses_ = true;
  }
  // A range of this cost ends, and counts.
  [[gnu::always_inline]] void close(double time, double overhead) {
    if (__builtin_expect(recurses_, 0)) return leave(Cost{time, overhead}, true);
    --depth_;
  }
  // One ends that does not count: those within it do.
  void drop() {
    if (recurses_) return leave(Cost{}, false);
    --depth_;
  }
  // What somebody else found to lie within others.
  void add_within(double time) { within_.time += time; }
  // Of the cost of all that counted: what lies within another one that did.
  const Cost& within() const noexcept { return within_; }

 private:
  [[gnu::noinline]] void leave(const Cost& cost, bool counts) {
    const std::size_t depth = depth_--;
    if (inside_.size() <= depth) inside_.resize(depth + 1);
    const Cost covered = inside_[depth];
    inside_[depth] = Cost{};
    if (counts) within_ += covered;
    if (depth > 1) inside_[depth - 1] += counts ? cost : covered;
  }

  std::uint32_t depth_ = 0;
  bool recurses_ = false;
  Cost within_;
  std::vector<Cost> inside_;  // by depth: of those that counted directly within the open one
};

}  // namespace nvspan::reader
