// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges of devices laid out for a timeline: a lane for each stream of a device, in as many rows as
// ranges in it overlap without nesting.

#pragma once

#include "reader/scan/device_lanes.hpp"
#include "reader/scan/range_scan.hpp"

#include <cstdint>
#include <vector>

namespace nvspan::reader {

struct DeviceSpan {
  std::int64_t start = 0, end = 0;  // ns, as they are shown
  std::uint32_t site = 0;
  std::uint32_t lane = 0;
  std::uint32_t depth = 0;  // how many ranges of its row are around it
  EndReason reason = EndReason::closed;
  DeviceCall call;
};

// A row's beginnings and ends in the order of their times, properly nested.
struct DeviceStep {
  std::int64_t time;
  std::size_t span;
  bool is_begin;
};
struct DeviceRow {
  std::uint32_t lane = 0;
  std::uint32_t first_level = 0;  // how deep the rows of its lane before it are together
  std::vector<DeviceStep> steps;
};

// The ranges of one process while it is scanned. In a captured graph nothing waits for what takes
// the times, so ranges that follow one another, or nest, may overlap by less than those times are
// sure: such a one is moved by that much, 10 us at most.
class DeviceRows {
 public:
  explicit DeviceRows(const Recording& recording) : recording_(recording) {}

  void add(std::uint32_t process, const ScannedRange& range);
  // Lays out what was added since the last clear(), device by device, stream by stream.
  std::vector<DeviceRow> arrange();
  void clear() { spans_.clear(); }

  const std::vector<DeviceSpan>& spans() const noexcept { return spans_; }
  const DeviceLane& lane(std::uint32_t number) const { return lanes_.lanes()[number]; }

 private:
  void untangle(std::vector<std::size_t>& order);

  const Recording& recording_;
  DeviceLanes lanes_;
  std::vector<DeviceSpan> spans_;
};

}  // namespace nvspan::reader
