// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/projection/cpu_ranges.hpp"
#include "reader/projection/work_scan.hpp"

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

namespace nvspan::reader {

struct RangePlace {
  std::uint32_t thread = 0;
  std::uint32_t place = CpuRanges::no_place;
};

// What a range has launched so far.
struct RangeWork {
  CoveredTime covered;
  std::int64_t sum = 0, exclusive = 0, ops = 0, calls = 0;

  void add(const LaunchedOp& op) {
    covered.add(op.start, op.end);
    sum += op.end - op.start;
    ++ops;
  }
};

// The ranges in which graphs were captured, once more for each replay: each has the work that was
// captured in it.
class Replays {
 public:
  static constexpr std::uint32_t none = CpuRanges::no_place;

  struct Range {
    RangePlace captured;         // the range of the capture
    RangePlace launcher;         // the innermost range around the launch of the graph; or no place
    std::int64_t launched;       // when that was
    std::uint32_t outer = none;  // the one of the same replay around it
    std::int64_t level = 0;      // how many of that replay are around it
    std::int64_t children = 0;   // of that replay whose outer one it is
    RangeWork work;
  };

  explicit Replays(const CpuRanges& ranges) : ranges_(ranges) {}

  // False: it was captured in no range, or by no graph.
  bool take(const LaunchedOp& op, const RangePlace& launcher);
  void nest();  // after the last take()
  const std::vector<Range>& all() const noexcept { return all_; }

 private:
  struct Key {
    std::uint64_t launch;
    std::uint32_t process, thread, place;
    bool operator==(const Key& other) const noexcept {
      return launch == other.launch && process == other.process && thread == other.thread &&
             place == other.place;
    }
  };
  struct KeyHash {
    std::size_t operator()(const Key& key) const noexcept {
      constexpr std::uint64_t odd = 0x9E3779B97F4A7C15u;
      std::uint64_t hash = (std::uint64_t{key.thread} << 32 | key.place) * odd;
      hash = (hash ^ key.launch ^ std::uint64_t{key.process} << 40) * odd;
      return hash ^ hash >> 32;
    }
  };

  std::uint32_t number_of(const LaunchedOp& op, const RangePlace& launcher, std::uint32_t place);

  const CpuRanges& ranges_;
  std::unordered_map<Key, std::uint32_t, KeyHash> numbers_;
  std::vector<Range> all_;
};

}  // namespace nvspan::reader
