// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Statistics of ranges in one pass, without a table of them: memory goes with the number of names.

#pragma once

#include "core/log_histogram.hpp"
#include "reader/file/recording.hpp"
#include "reader/scan/device_lanes.hpp"
#include "reader/scan/selection.hpp"
#include "reader/stats/typical.hpp"
#include "trace/payload/payload_decoder.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <unordered_set>
#include <vector>

namespace nvspan::reader {

// Recursion: subtracts nested ranges of the same name, so that each name's total counts every
// moment once. For one name in one thread at a time. A thread's ranges are all closed, or told to
// be still open, before the next begins.
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
  // One is still open, the innermost first: the outermost counts in place of those within it.
  void stay(const Cost& until_now) {
    if (depth_ > 1) return drop();
    open_ += until_now;
    if (recurses_) return leave(Cost{}, true);
    --depth_;
  }
  // What somebody else found to lie within others.
  void add_within(double time) { within_.time += time; }
  // Of the cost of all that ended and counted: what lies within another one that counts.
  const Cost& within() const noexcept { return within_; }
  // Of those that are still open.
  const Cost& still_open() const noexcept { return open_; }

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
  Cost within_, open_;
  std::vector<Cost> inside_;  // by depth: of those that counted directly within the open one
};

// Grouped by device or stream there are ranges of devices alone.
enum class GroupBy : std::uint8_t {
  name,
  thread,
  process,
  category,
  payload,
  device,
  stream,
  field,
};

struct AggregateOptions : Selection {
  GroupBy by = GroupBy::name;
  std::string field;  // by field: the payload's, "outer.inner" within a struct
};

// A value of the field that rows are grouped by.
struct FieldGroup {
  trace::PayloadValue::Kind kind = trace::PayloadValue::Kind::count;
  std::uint64_t bits = 0;
  std::string text;
};

struct AggregateRow {
  std::uint32_t domain = 0;
  std::int32_t name = no_name;
  RangeKind kind = RangeKind::push_pop;
  bool backward = false;   // the backward pass of what is called so
  bool is_others = false;  // of all names past the budget
  // Of the group, where it is grouped so.
  std::int64_t thread = -1;
  std::int64_t process = -1;
  std::uint32_t category = 0;
  std::int32_t category_name = no_name;
  std::uint8_t payload_type = 0;
  std::uint64_t payload = 0;  // by field: of Aggregate::groups, 0 where it has none
  std::int64_t lane = -1;     // of Aggregate::lanes; by device: one of that device

  std::uint64_t calls = 0;     // closed ones; what follows is about those
  std::uint64_t unclosed = 0;  // still open: `self`, `covered` and total() have their time so far
  // Of generators and coroutines of a profile, whose calls are of all their stretches together.
  bool is_resumable = false;
  std::uint64_t resumptions = 0;
  // ns in which calls were suspended: before them, and at last where a call never went on.
  std::int64_t awaited = 0;
  std::int64_t unknown_awaits = 0;  // resumptions of which `awaited` does not have it
  double sum = 0;                   // ns
  double self = 0;
  // Not of push/pop ranges, whose total it is: when a range was open, thread by thread or device by
  // device. Cells do not tell it.
  std::int64_t covered = 0;
  bool has_cells = false;
  unsigned __int128 squares = 0;  // whole, so that it is the same in any order
  double overhead_sum = 0;        // ns of the sum that are the recorder's own, by its calibration
  Outermost outermost;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max();
  std::int64_t longest = 0;
  std::uint64_t threads = 0;
  std::uint64_t last_thread = static_cast<std::uint64_t>(-1);
  std::unordered_set<std::uint64_t> seen_threads;
  std::unordered_set<std::uint64_t> devices;  // by process and device, where it is a device's
  std::int64_t first = std::numeric_limits<std::int64_t>::max();  // ns: of its first call's start
  std::int64_t last = std::numeric_limits<std::int64_t>::min();   // ns: when its last call ended
  core::LogHistogram durations;
  FirstCalls first_calls;

  // A range of the thread counts; `start` is that of the thread's first.
  [[gnu::always_inline]] void see_thread(std::uint32_t thread, std::int64_t start) {
    if (__builtin_expect(last_thread == thread, 1)) return;
    last_thread = thread;
    see_other_thread(thread, start);
  }
  // The time, and the recorder's part of it, in which a range of the row was open, thread by
  // thread: of those within one another the outermost counts.
  double total() const noexcept {
    return sum - outermost.within().time + outermost.still_open().time;
  }
  double overhead() const noexcept {
    return overhead_sum - outermost.within().overhead + outermost.still_open().overhead;
  }

 private:
  [[gnu::noinline]] void see_other_thread(std::uint32_t thread, std::int64_t start) {
    if (!seen_threads.insert(thread).second) return;
    ++threads;
    first = std::min(first, start);
    first_calls.begin_thread();
  }
};

struct MarkRow {
  std::uint32_t domain = 0;
  std::int32_t name = no_name;
  std::uint64_t calls = 0;
};

struct Aggregate {
  std::vector<FieldGroup> groups;  // by field; the first stands for none
  DeviceLanes lanes;               // where they are grouped by device or stream
  std::vector<std::unique_ptr<AggregateRow>> rows;
  std::uint64_t lost = 0;         // events, where the number is known
  std::uint64_t gaps = 0;         // places where a ring overwrote
  std::uint64_t overwritten = 0;  // events there, where that is known
  std::vector<ReadLoss> losses;
  std::uint64_t orphans = 0;  // ends of what was not open
  std::uint64_t others = 0;   // ranges and marks whose names were past the budget
  std::int64_t first = 0;     // the first and the last moment of what was counted
  std::int64_t last = 0;
  std::int64_t whole = 0;  // ns from the first to the last, of other names and domains too
  std::vector<MarkRow> marks;
};

Aggregate aggregate(const Recording& recording, const AggregateOptions& options);

}  // namespace nvspan::reader
