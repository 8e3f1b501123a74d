// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A projection by the names of ranges, and by the names of kernels within ranges.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/projection/projection.hpp"

#include <cstdint>
#include <string_view>
#include <vector>

namespace nvspan::reader {

// Exact figures of durations in ns.
struct DurationFigures {
  std::uint64_t count = 0;
  std::int64_t sum = 0, shortest = 0, longest = 0;
  double mean = 0, median = 0, deviation = 0;  // of a sample
};

// Which value is the median of an even number: the lower middle one, or, as in the tables of Nsight
// Systems, the mean of both.
enum class Median : std::uint8_t { p50, midpoint };

DurationFigures figures_of(std::vector<std::int64_t>& durations, Median median);

struct ProjectionSum {
  std::uint32_t domain = 0;
  std::int32_t name = no_name;
  RangeKind kind = RangeKind::push_pop;
  DurationFigures projected;  // from the first start to the last end
  std::uint64_t calls = 0;    // ranges with work
  std::int64_t range_time = 0, work_time = 0, busy = 0, exclusive = 0;
  std::int64_t ops = 0, launches = 0, levels = 0, children = 0;
  std::int64_t backward_ops = 0, backward_time = 0, backward_busy = 0;
};

// The most projected time first.
std::vector<ProjectionSum> sum_by_name(const Recording& recording, const Projection& projection,
                                       Median median);

struct KernelSum {
  std::int64_t thread = -1;  // that launched them; -1: not known
  std::int64_t domain = -1;  // -1: of no range
  std::int32_t name = no_name;
  RangeKind kind = RangeKind::push_pop;
  std::int32_t kernel = no_name;
  std::uint64_t ranges = 0, kernels = 0;
  DurationFigures durations;
};

// Of the pairs of a projection; work of the categories called so alone. Medians are midpoints.
std::vector<KernelSum> sum_kernels(const Recording& recording, const Projection& projection,
                                   std::string_view category);

}  // namespace nvspan::reader
