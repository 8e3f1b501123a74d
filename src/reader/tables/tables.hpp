// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A recording as columns: one array for each field, times in ns on the time line of its first file.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/scan/device_lanes.hpp"
#include "reader/scan/selection.hpp"

#include <cstdint>
#include <memory>
#include <vector>

namespace nvspan::reader {

constexpr std::uint32_t no_lane = 0xFFFFFFFF;

// Rows in the order of their start, thread by thread.
struct RangeTable {
  std::vector<std::int64_t> start, end, self;  // end: the last known moment when it is unclosed
  std::vector<std::int64_t> parent;            // row, -1: none
  std::vector<std::uint32_t> thread, end_thread;
  std::vector<std::uint32_t> site;
  std::vector<std::uint32_t> depth, level;
  std::vector<std::uint64_t> range_id;  // start/end ranges; 0: a push range
  std::vector<std::uint64_t> payload;   // its bits; extended: the offset into `bytes`
  std::vector<std::uint32_t> payload_bytes;
  std::vector<std::uint8_t> has_payload, kind, end_reason;
  // Of ranges of devices; empty where there is none at all.
  std::vector<std::uint32_t> lane;     // of Tables::lanes; no_lane: of the CPU
  std::vector<std::int64_t> launcher;  // row of the range of the CPU that asked for it; -1: none
  std::vector<std::uint64_t> launch;   // the number of the call

  std::size_t size() const noexcept { return start.size(); }
};

struct MarkTable {
  std::vector<std::int64_t> time;
  std::vector<std::uint32_t> thread, site;
  std::vector<std::uint64_t> payload;
  std::vector<std::uint32_t> payload_bytes;
  std::vector<std::uint8_t> has_payload;
};

struct CounterTable {
  std::vector<std::int64_t> time;
  std::vector<std::uint32_t> thread, counter;
  std::vector<double> value;          // NaN: none
  std::vector<std::int64_t> integer;  // of an integer counter
  std::vector<std::uint8_t> kind;     // 0 integer, 1 real, 2 no value
};

struct Tables {
  RangeTable ranges;
  MarkTable marks;
  CounterTable counters;
  std::vector<std::uint8_t> bytes;  // extended payloads
  std::vector<ReadLoss> losses;
  DeviceLanes lanes;
  std::uint64_t orphan_ends = 0;  // ends of ranges that were not open
};

Tables make_tables(Recording& recording);

// A part of the tables. A range's parent is the innermost of those around it that are left.
Tables select_rows(const Tables& tables, const Selection& selection);

// The ranges of which `keep` holds.
RangeTable select_ranges(const RangeTable& ranges, const std::vector<bool>& keep);

}  // namespace nvspan::reader
