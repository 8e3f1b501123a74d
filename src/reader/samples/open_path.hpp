// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The path of ranges that is open on a thread, moment after moment.

#pragma once

#include "core/memory/path_table.hpp"
#include "reader/loops/ranges.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

namespace nvspan::reader {

// A path of names, without the inner ones of two that are equal: a range within another one of its
// name counts there, and so does one that lies deeper than `deepest`. Path 0 is that of no range.
class RangePaths {
 public:
  static constexpr std::uint32_t deepest = 1000;
  struct Path {
    std::uint32_t parent = 0;  // less than its own number
    std::uint32_t name = 0;    // of no meaning here
    std::uint32_t depth = 0;
  };

  std::uint32_t enter(std::uint32_t path, std::uint32_t name);
  const std::vector<Path>& paths() const noexcept { return paths_; }

 private:
  core::PathTable numbers_;
  std::vector<Path> paths_{1};
};

struct NamedRange {
  std::int64_t start;
  std::int64_t end;
  std::uint32_t name;
};

// The ranges of a recording's threads: the closed rows of `ranges`, and by their starts those that
// did not end.
struct ThreadRanges {
  const LoopRanges& ranges;
  std::vector<std::uint32_t> name_of_group;
  std::vector<std::vector<NamedRange>> unended;  // of each thread
};

// Asked for times that never go back.
class OpenPath {
 public:
  // Of the threads from `first` on, which had one number of the system one after the other.
  OpenPath(RangePaths& paths, const ThreadRanges& ranges, const std::vector<std::uint32_t>& threads,
           std::size_t first);

  std::uint32_t at(std::int64_t time) {
    if (time >= next_) advance(time);
    return path_;
  }

 private:
  struct Open {
    std::int64_t end;
    std::uint32_t path;
  };
  static constexpr std::int64_t never = std::numeric_limits<std::int64_t>::max();

  void advance(std::int64_t time);
  void find_range();
  void enter(const NamedRange& range);

  RangePaths* paths_;
  const ThreadRanges* ranges_;
  const std::vector<std::uint32_t>* threads_;
  std::size_t next_thread_;
  RangeRow row_ = 0, end_ = 0;  // of the current thread
  const std::vector<NamedRange>* unended_ = nullptr;
  std::size_t next_unended_ = 0;
  std::vector<Open> open_;
  std::uint32_t path_ = 0;
  std::int64_t next_;  // when it changes, at the earliest
};

}  // namespace nvspan::reader
