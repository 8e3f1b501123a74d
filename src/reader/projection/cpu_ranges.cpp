// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/projection/cpu_ranges.hpp"

#include "reader/scan/range_scan.hpp"

#include <algorithm>

namespace nvspan::reader {

class CpuRanges::Collector : public RangeScan<CpuRanges::Collector> {
 public:
  Collector(const Recording& recording, const std::vector<bool>& wanted,
            std::optional<std::int64_t> unclosed_end, CpuRanges& out)
      : RangeScan(recording, Selection::whole()),
        wanted_(wanted),
        unclosed_end_(unclosed_end),
        out_(out) {}

  void begin_thread(std::uint32_t thread) { ranges_ = &ranges_of(thread); }
  std::uint64_t open(const PushRange& range, std::uint64_t, const EntryPayload&) {
    return add(range.site, time(range.start), RangeKind::push_pop);
  }
  std::uint64_t opened(const ScannedRange& range, std::uint64_t, std::uint64_t,
                       const EntryPayload&) {
    return add(range.site, range.start, range.kind);
  }
  void whole(std::uint32_t, std::uint64_t, std::uint64_t, const EntryPayload&) { ++rows_; }
  void ended(const ScannedRange& range) {
    if (range.row == no_row || range.end_thread != range.thread) return;
    const bool closed = range.reason == EndReason::closed || !unclosed_end_;
    of(range).end = closed ? range.end : *unclosed_end_;
  }
  void left_out(const ScannedRange& range) {
    if (range.row != no_row) left_out_.push_back(of(range).row);
  }

  // The tables lack the ranges that were left out.
  void renumber() {
    if (left_out_.empty()) return;
    std::sort(left_out_.begin(), left_out_.end());
    for (core::LargeVector<CpuRange>& ranges : out_.threads_) {
      for (CpuRange& range : ranges) {
        const auto before = std::lower_bound(left_out_.begin(), left_out_.end(), range.row);
        range.row -= static_cast<std::uint64_t>(before - left_out_.begin());
      }
    }
  }

 private:
  core::LargeVector<CpuRange>& ranges_of(std::uint32_t lane) {
    const ReadThread& thread = recording_.threads()[lane];
    return out_.threads_[out_.thread_called(thread.process, thread.tid)];
  }
  CpuRange& of(const ScannedRange& range) {
    return (range.thread == thread_ ? *ranges_ : ranges_of(range.thread))[range.row];
  }
  std::uint64_t add(std::uint32_t site, std::int64_t start, RangeKind kind) {
    const std::uint64_t row = rows_++;
    if (!wanted_[site]) return no_row;
    CpuRange range;
    range.start = start;
    range.end = std::numeric_limits<std::int64_t>::min();  // until it ends
    range.row = row;
    range.site = site;
    range.lane = thread_;
    range.kind = kind;
    ranges_->push_back(range);
    return ranges_->size() - 1;
  }

  const std::vector<bool>& wanted_;
  const std::optional<std::int64_t> unclosed_end_;
  CpuRanges& out_;
  core::LargeVector<CpuRange>* ranges_ = nullptr;
  std::uint64_t rows_ = 0;
  std::vector<std::uint64_t> left_out_;  // rows
};

CpuRanges::CpuRanges(const Recording& recording, const std::vector<bool>& wanted,
                     std::optional<std::int64_t> unclosed_end) {
  for (const ReadThread& thread : recording.threads()) {
    const auto number = static_cast<std::uint32_t>(numbers_.size());
    if (numbers_.try_emplace({thread.process, thread.tid}, number).second) {
      processes_.push_back(thread.process);
    }
  }
  threads_.resize(numbers_.size());
  next_.resize(numbers_.size());
  Collector collector(recording, wanted, unclosed_end, *this);
  collector.run_whole();
  collector.renumber();
  for (core::LargeVector<CpuRange>& ranges : threads_) order(ranges);
}

// Those that begin first before those that they hold.
void CpuRanges::order(core::LargeVector<CpuRange>& ranges) const {
  const auto earlier = [](const CpuRange& a, const CpuRange& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  };
  if (!std::is_sorted(ranges.begin(), ranges.end(), earlier)) {
    std::stable_sort(ranges.begin(), ranges.end(), earlier);
  }
  std::vector<std::uint32_t> open;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    while (!open.empty() && ranges[open.back()].end < ranges[i].start) open.pop_back();
    ranges[i].around = open.empty() ? no_place : open.back();
    open.push_back(static_cast<std::uint32_t>(i));
  }
}

std::uint32_t CpuRanges::thread_called(std::uint32_t process, std::uint32_t tid) const {
  const auto found = numbers_.find({process, tid});
  return found == numbers_.end() ? no_place : found->second;
}

namespace {

// Of those that begin later the first.
std::size_t first_after(const core::LargeVector<CpuRange>& ranges, std::int64_t time) {
  const auto found =
      std::upper_bound(ranges.begin(), ranges.end(), time,
                       [](std::int64_t at, const CpuRange& range) { return at < range.start; });
  return static_cast<std::size_t>(found - ranges.begin());
}

}  // namespace

std::uint32_t CpuRanges::find(std::uint32_t thread, std::int64_t time) const {
  const core::LargeVector<CpuRange>& ranges = threads_[thread];
  const std::size_t next = first_after(ranges, time);
  return next == 0 ? no_place : open_from(ranges, static_cast<std::uint32_t>(next - 1), time);
}

std::uint32_t CpuRanges::at(std::uint32_t thread, std::int64_t time) {
  const core::LargeVector<CpuRange>& ranges = threads_[thread];
  std::size_t& next = next_[thread];  // of those that begin later the first
  constexpr std::size_t near = 16;
  std::size_t looked = 0;
  const bool is_later = next == 0 || ranges[next - 1].start <= time;
  while (is_later && looked < near && next < ranges.size() && ranges[next].start <= time) {
    ++next;
    ++looked;
  }
  if (!is_later || looked == near) next = first_after(ranges, time);
  return next == 0 ? no_place : open_from(ranges, static_cast<std::uint32_t>(next - 1), time);
}

}  // namespace nvspan::reader
