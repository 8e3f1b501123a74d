// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/projection/launched_work.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace nvspan::reader {

LaunchedWork::LaunchedWork(std::vector<LaunchedOp> ops) : ops_(std::move(ops)) {
  const auto earlier = [](const LaunchedOp& a, const LaunchedOp& b) {
    return a.called != b.called ? a.called < b.called
           : a.call != b.call   ? a.call < b.call
                                : a.start < b.start;
  };
  if (!std::is_sorted(ops_.begin(), ops_.end(), earlier)) {
    std::sort(ops_.begin(), ops_.end(), earlier);
  }
  const std::size_t count = ops_.size();
  sums_.reserve(count + 1);
  calls_.reserve(count + 1);
  stretch_.reserve(count);
  first_.assign(2 * count, std::numeric_limits<std::int64_t>::max());
  last_.assign(2 * count, std::numeric_limits<std::int64_t>::min());
  std::int64_t sum = 0;
  std::uint32_t calls = 0, stretch = 0;
  for (std::size_t i = 0; i < count; ++i) {
    const LaunchedOp& op = ops_[i];
    sums_.push_back(sum);
    calls_.push_back(calls);
    sum += op.end - op.start;
    if (i == 0 || ops_[i - 1].call != op.call) ++calls;
    if (i != 0 && ops_[i - 1].end > op.start) ++stretch;
    stretch_.push_back(stretch);
    first_[count + i] = op.start;
    last_[count + i] = op.end;
  }
  sums_.push_back(sum);
  calls_.push_back(calls);
  for (std::size_t i = count; i-- > 1;) {
    first_[i] = std::min(first_[2 * i], first_[2 * i + 1]);
    last_[i] = std::max(last_[2 * i], last_[2 * i + 1]);
  }
}

std::size_t LaunchedWork::end_of(std::size_t begin, std::int64_t until) const {
  // Most ranges hold little: look near first.
  std::size_t step = 1, low = begin;
  while (low + step <= ops_.size() && ops_[low + step - 1].called <= until) {
    low += step;
    step *= 2;
  }
  const auto from = ops_.begin() + static_cast<std::ptrdiff_t>(low);
  const auto to = ops_.begin() + static_cast<std::ptrdiff_t>(std::min(low + step, ops_.size()));
  auto end = std::upper_bound(
      from, to, until, [](std::int64_t time, const LaunchedOp& op) { return time < op.called; });
  while (end != ops_.begin() + static_cast<std::ptrdiff_t>(begin) && (end - 1)->returned > until) {
    --end;
  }
  return static_cast<std::size_t>(end - ops_.begin());
}

WorkTotals LaunchedWork::totals(std::size_t begin, std::size_t end) const {
  WorkTotals totals;
  if (begin >= end) return totals;
  totals.first = std::numeric_limits<std::int64_t>::max();
  totals.last = std::numeric_limits<std::int64_t>::min();
  for (std::size_t i = begin + ops_.size(), j = end + ops_.size(); i < j; i /= 2, j /= 2) {
    if (i % 2 != 0) {
      totals.first = std::min(totals.first, first_[i]);
      totals.last = std::max(totals.last, last_[i++]);
    }
    if (j % 2 != 0) {
      totals.first = std::min(totals.first, first_[--j]);
      totals.last = std::max(totals.last, last_[j]);
    }
  }
  totals.sum = sums_[end] - sums_[begin];
  totals.busy = busy(begin, end);
  totals.ops = end - begin;
  totals.calls = std::uint64_t{calls_[end]} - calls_[begin];
  if (begin != 0 && ops_[begin].call == ops_[begin - 1].call) ++totals.calls;
  return totals;
}

std::int64_t LaunchedWork::busy(std::size_t begin, std::size_t end) const {
  if (stretch_[begin] == stretch_[end - 1]) return sums_[end] - sums_[begin];
  std::vector<std::pair<std::int64_t, std::int64_t>> spans;
  spans.reserve(end - begin);
  for (std::size_t i = begin; i < end; ++i) spans.emplace_back(ops_[i].start, ops_[i].end);
  if (!std::is_sorted(spans.begin(), spans.end())) std::sort(spans.begin(), spans.end());
  std::int64_t busy = 0, until = std::numeric_limits<std::int64_t>::min();
  for (const auto& [start, stop] : spans) {
    if (stop <= until) continue;
    busy += stop - std::max(start, until);
    until = stop;
  }
  return busy;
}

}  // namespace nvspan::reader
