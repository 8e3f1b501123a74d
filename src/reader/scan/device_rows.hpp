// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges of devices laid out for a timeline: a lane for each stream of a device, in as many rows as
// ranges in it overlap without nesting.

#pragma once

#include "core/memory/large_pages.hpp"
#include "reader/scan/device_lanes.hpp"
#include "reader/scan/range_scan.hpp"

#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace nvspan::reader {

struct LanePlace {
  std::int64_t start = 0, end = 0;  // ns, as they are shown
  std::int64_t took = 0;            // ns, as they were recorded
  std::uint64_t launch = 0;
  std::uint64_t row = 0;  // whatever its owner keeps
  std::uint32_t uncertainty = 0;
  std::uint32_t lane = 0;
  std::uint32_t depth = 0;  // how many ranges of its row are around it
};
struct DeviceSpan : LanePlace {
  std::uint32_t site = 0;
  EndReason reason = EndReason::closed;
  DeviceCall call;
};

// A row's beginnings and ends in the order of their times, properly nested.
struct DeviceStep {
  std::int64_t time;
  std::uint32_t span;
  bool is_begin;
};
struct DeviceRow {
  std::uint32_t lane = 0;
  std::uint32_t first_level = 0;  // how deep the rows of its lane before it are together
  core::LargeVector<DeviceStep> steps;
};

// Lays out ranges lane by lane. In a captured graph nothing waits for what takes
// the times, so ranges that follow one another, or nest, may overlap by less than those times are
// sure: such a one is moved by that much, 10 us at most.
// What would need more than `most_rows` in a lane is in none.
template <typename Place>
std::vector<DeviceRow> arrange_in_rows(core::LargeVector<Place>& places,
                                       std::size_t most_rows = static_cast<std::size_t>(-1));
extern template std::vector<DeviceRow> arrange_in_rows(core::LargeVector<LanePlace>&, std::size_t);
extern template std::vector<DeviceRow> arrange_in_rows(core::LargeVector<DeviceSpan>&, std::size_t);

// The ranges of one process while it is scanned.
class DeviceRows {
 public:
  explicit DeviceRows(const Recording& recording) : recording_(recording) {}

  void add(std::uint32_t process, const ScannedRange& range);
  // Lays out what was added since the last clear(), device by device, stream by stream.
  std::vector<DeviceRow> arrange(std::size_t most_rows = static_cast<std::size_t>(-1));
  void clear() { spans_.clear(); }

  const core::LargeVector<DeviceSpan>& spans() const noexcept { return spans_; }
  const DeviceLane& lane(std::uint32_t number) const { return lanes_.lanes()[number]; }

 private:
  const Recording& recording_;
  DeviceLanes lanes_;
  core::LargeVector<DeviceSpan> spans_;
};

// Ranges that may overlap, put into as few rows as will do: within a row none overlaps another.
class Slots {
 public:
  // The row of the next range; ranges are given in the order of their start.
  std::uint32_t place(std::int64_t start, std::int64_t end) {
    std::uint32_t slot = used_;
    if (!ends_.empty() && ends_.top().first <= start) {
      slot = ends_.top().second;
      ends_.pop();
    } else {
      ++used_;
    }
    ends_.emplace(end, slot);
    return slot;
  }
  std::uint32_t used() const noexcept { return used_; }

 private:
  using Ending = std::pair<std::int64_t, std::uint32_t>;
  std::priority_queue<Ending, std::vector<Ending>, std::greater<Ending>> ends_;
  std::uint32_t used_ = 0;
};

}  // namespace nvspan::reader
