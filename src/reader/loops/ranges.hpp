// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The closed ranges of the CPU as columns, nested by time.

#pragma once

#include "core/memory/large_pages.hpp"
#include "reader/file/recording.hpp"
#include "reader/scan/selection.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace nvspan::reader {

using RangeRow = std::uint32_t;
constexpr RangeRow no_range = std::numeric_limits<RangeRow>::max();
using RangeRows = core::LargeVector<RangeRow>;

// What the name of a group says, as python/nvspan/loops/groups.py has it.
enum GroupTrait : std::uint8_t {
  trait_wait = 1,
  trait_profile = 2,    // calls of a profile: never steps
  trait_evaluates = 4,  // steps within it are left out
  trait_given = 8,      // it is to be the step
  trait_marked = 16,    // nvspan.step or auto made it
};

// Ranges that are called alike.
struct LoopGroup {
  std::string label;
  std::uint8_t traits = 0;
  bool is_registered = true;  // each range has its name as a registered string
  std::uint32_t domain = 0;   // of its first name
  std::uint64_t ranges = 0;
};

// Ranges of one domain and name that ended.
struct LoopName {
  std::uint32_t domain = 0;
  std::int32_t name = no_name;
  std::uint64_t ranges = 0;
  std::uint64_t unclosed = 0;  // that did not
  bool is_registered = true;   // each has its name as a registered string
};

// A range that was open when its thread or its process ended, or as far as it was recorded.
struct UnendedRange {
  std::uint32_t site = 0;
  std::uint32_t thread = 0;
  std::int64_t start = 0, end = 0;
};

// A range that ended in another thread than its own.
struct MovedRange {
  std::uint32_t thread = 0;
  std::int64_t start = 0, end = 0;
  std::uint32_t end_thread = 0;
};

class LoopRanges {
 public:
  // Only reads. Throws std::length_error where there are 2^32 or more.
  LoopRanges(const Recording& recording, const Selection& selection);

  // In the order of domains and names.
  const std::vector<LoopName>& names() const noexcept { return names_; }
  const std::vector<UnendedRange>& still_open() const noexcept { return still_open_; }
  bool has_device_ranges() const noexcept { return has_device_ranges_; }

  // The group of each name. What follows is known from then on.
  void nest(const std::vector<std::uint32_t>& group_of_name, std::vector<LoopGroup> groups);

  std::size_t size() const noexcept { return start.size(); }
  std::int64_t duration(RangeRow row) const { return end[row] - start[row]; }
  bool has(RangeRow row, std::uint8_t trait) const {
    return (groups[group[row]].traits & trait) != 0;
  }
  // Whether a group of this trait has ranges.
  bool has_any(std::uint8_t trait) const noexcept { return (traits_ & trait) != 0; }
  // Whether a row has flags.
  bool has_flags() const noexcept { return has_flags_; }
  bool is_floating(RangeRow row) const { return (flags[row] & floating) != 0; }
  bool is_call(RangeRow row) const { return (flags[row] & resumes) == 0; }
  bool is_backward(RangeRow row) const { return (flags[row] & backward) != 0; }
  // The rows of a thread: from begin to end.
  struct Rows {
    RangeRow begin = 0, end = 0;
    std::int64_t last = 0;  // when its last range ends
  };
  Rows rows_of(std::uint32_t thread) const { return of_threads[thread]; }
  std::uint32_t thread_of(RangeRow row) const;
  // Where a range of this thread, start and end ended.
  std::uint32_t end_thread_of(std::uint32_t thread, std::int64_t start, std::int64_t end) const;
  std::uint32_t process_of_thread(std::uint32_t one) const { return processes_[one]; }
  std::int64_t span() const noexcept { return last - first; }

  static constexpr std::uint8_t backward = 1;   // the backward pass of what is called so
  static constexpr std::uint8_t start_end = 2;  // not pushed and popped
  static constexpr std::uint8_t elsewhere = 4;  // it ended in another thread
  // A start/end range of a name that overlaps others of its thread. All others nest, whatever made
  // them.
  static constexpr std::uint8_t floating = 8;
  static constexpr std::uint8_t resumes = 16;  // a generator or coroutine, whose call it is part of

  // Columns, by thread, start and, the longest first, end.
  core::LargeVector<std::int64_t> start, end;
  core::LargeVector<std::uint32_t> group;
  RangeRows parent;  // no_range: none, or it is floating
  core::LargeVector<std::uint8_t> flags;
  std::vector<LoopGroup> groups;
  std::vector<Rows> of_threads;  // of each of Recording::threads()
  std::int64_t first = 0, last = 0;

 private:
  void sort(const Rows& rows);
  void drop_unclosed();
  void name_sites(const Recording& recording, const std::vector<std::uint64_t>& closed);
  void find_floating();

  std::vector<LoopName> names_;
  std::vector<std::uint32_t> name_of_site_;
  std::vector<std::uint32_t> processes_;  // of each thread
  std::vector<UnendedRange> still_open_;
  std::uint8_t traits_ = 0;
  bool has_flags_ = false;
  bool has_device_ranges_ = false;
  std::vector<MovedRange> moved_;  // by thread, start and end
};

// LoopRanges::thread_of, at once for rows of the thread that was found before.
class ThreadOf {
 public:
  explicit ThreadOf(const LoopRanges& ranges) : ranges_(ranges) {}

  std::uint32_t operator()(RangeRow row) {
    if (row < rows_.begin || row >= rows_.end) {
      thread_ = ranges_.thread_of(row);
      rows_ = ranges_.rows_of(thread_);
    }
    return thread_;
  }

 private:
  const LoopRanges& ranges_;
  LoopRanges::Rows rows_;
  std::uint32_t thread_ = 0;
};

// Adds up the union of intervals, which come lane by lane in the order of their starts.
class SortedCoverage {
 public:
  // What the interval adds.
  std::int64_t add(std::uint64_t lane, std::int64_t start, std::int64_t end) {
    if (lane != lane_) {
      lane_ = lane;
      end_ = std::numeric_limits<std::int64_t>::min();
    }
    const std::int64_t added = std::max<std::int64_t>(0, end - std::max(start, end_));
    end_ = std::max(end_, end);
    return added;
  }

 private:
  std::uint64_t lane_ = std::numeric_limits<std::uint64_t>::max();
  std::int64_t end_ = 0;
};

// How many intervals are open at once.
struct Concurrency {
  std::int64_t peak = 0;  // one that ends as another begins does not overlap it
  double mean = 0;        // while at least one is open
};
Concurrency concurrency_of(std::vector<std::int64_t> starts, std::vector<std::int64_t> ends);

}  // namespace nvspan::reader
