// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/extract/gpu_work.hpp"

#include <algorithm>
#include <limits>

namespace nvspan::ranks {

ThreadWork work_of(std::vector<GpuStretch>& spans) {
  std::sort(spans.begin(), spans.end(), [](const GpuStretch& a, const GpuStretch& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  ThreadWork work;
  std::vector<std::int64_t> open;
  const auto leave_before = [&](std::int64_t at) {
    while (!open.empty() && open.back() <= at) {
      work.leave(open.back());
      open.pop_back();
    }
  };
  for (const GpuStretch& span : spans) {
    leave_before(span.start);
    // Ranges that follow each other may overlap, as a full GPU is late to stamp an end in a graph.
    for (; !open.empty() && open.back() < span.end; open.pop_back()) work.leave(span.start);
    work.enter(span.start, span.text);
    open.push_back(span.end);
  }
  leave_before(std::numeric_limits<std::int64_t>::max());
  return work;
}

}  // namespace nvspan::ranks
