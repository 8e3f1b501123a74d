// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/projection/work_scan.hpp"

#include "reader/file/chunk_scan.hpp"
#include "reader/scan/device_lanes.hpp"
#include "reader/scan/range_scan.hpp"

namespace nvspan::reader {
namespace {

// CUPTI hands over the work of a stream in its order, that of several by the buffer, which holds
// some 40,000 pieces, and the buffers of a second in any order.
constexpr std::size_t most_waiting_ops = std::size_t{1} << 17;

// Of a chunk, and when the first work begins that is in it or in one behind it.
struct ChunkBound {
  const std::uint64_t *begin, *end;
  std::int64_t first;
};

class OpScan : public RangeScan<OpScan> {
 public:
  OpScan(const Recording& recording, const std::vector<std::uint8_t>& sites,
         const CpuRanges& ranges, bool keeps_all, OpTaker& to)
      : RangeScan(recording, Selection::whole()),
        sites_(sites),
        ranges_(ranges),
        keeps_all_(keeps_all),
        to_(to) {}

  void begin_thread(std::uint32_t lane) {
    const std::uint32_t process = recording_.threads()[lane].process;
    if (process != bounded_process_) find_bounds(process);
  }

  std::uint64_t opened(const ScannedRange& range, std::uint64_t, std::uint64_t,
                       const EntryPayload& payload) {
    if (sites_[range.site] == 0) return no_row;
    const LaunchedOp op = op_of(range.site, range.thread, payload);
    if (free_.empty()) {
      begun_.push_back(op);
      return begun_.size() - 1;
    }
    const std::uint64_t place = free_.back();
    free_.pop_back();
    begun_[place] = op;
    return place;
  }
  void ended(const ScannedRange& range) {
    if (range.kind != RangeKind::device || range.row == no_row) return;
    free_.push_back(range.row);
    if (range.reason != EndReason::closed) return;
    add(begun_[range.row], range.start, range.end);
    if (waiting_.size() >= most_) hand_over(waiting_.size() - most_ / 2);
  }
  void left_out(const ScannedRange& range) { ended(range); }
  void whole(std::uint32_t site, std::uint64_t begin, std::uint64_t end,
             const EntryPayload& payload) {
    if (sites_[site] == 0) return;
    LaunchedOp op = op_of(site, thread_, payload);
    add(op, time(begin), time(end));
    if (waiting_.size() >= most_) hand_over_before(bound_of(payload.bytes));
  }
  void end_process(std::uint32_t) {
    hand_over(waiting_.size());
    newest_ = std::numeric_limits<std::int64_t>::min();
    begun_.clear();
    free_.clear();
  }

  bool in_order = true;

 private:
  LaunchedOp op_of(std::uint32_t site, std::uint32_t lane, const EntryPayload& payload) {
    DeviceCall call;
    read_device_call(*process_, recording_.sites()[site], payload, call);
    LaunchedOp op;
    op.launch = call.launch;
    op.number = ops_++;
    op.site = site;
    op.process = recording_.threads()[lane].process;
    op.device = call.device;
    op.is_launched = call.launched != 0;
    op.thread = CpuRanges::no_place;
    if (!op.is_launched) return op;
    if (call.node != nullptr) take_capture(*call.node, op);
    op.launched = time(call.launched);
    if (op.process != last_process_ || call.thread != last_tid_) {
      last_process_ = op.process;
      last_tid_ = call.thread;
      last_thread_ = ranges_.thread_called(op.process, call.thread);
    }
    op.thread = last_thread_;
    return op;
  }
  void take_capture(const record::GraphNodeDefinition& node, LaunchedOp& op) {
    op.captured = time(node.made);
    if (node.capture_began != 0) op.capture_began = time(node.capture_began);
    op.capturer = ranges_.thread_called(op.process, node.tid);
  }
  void add(LaunchedOp& op, std::int64_t start, std::int64_t end) {
    op.start = start;
    op.end = std::max(start, end);
    if (start < newest_) in_order = false;
    waiting_.push_back(op);
  }

  void find_bounds(std::uint32_t process) {
    bounded_process_ = process;
    bounds_.clear();
    bound_ = 0;
    most_ = keeps_all_ ? std::numeric_limits<std::size_t>::max() : 2 * most_waiting_ops;
    for (const ReadThread& thread : recording_.threads()) {
      if (thread.process != process) continue;
      for (const ReadChunk& chunk : thread.chunks) {
        const std::uint64_t* at = chunk.begin;
        std::uint64_t base = chunk.base_ticks, first = std::numeric_limits<std::uint64_t>::max();
        each_entry(at, chunk.end, base, EntrySites(recording_, *process_),
                   [&](const Entry& entry, std::uint64_t ticks) {
                     if (entry.kind == record::EntryKind::work) first = std::min(first, ticks);
                     return true;
                   });
        const bool has_some = first != std::numeric_limits<std::uint64_t>::max();
        bounds_.push_back({chunk.begin, chunk.end, has_some ? time(first) : latest});
      }
    }
    for (std::size_t i = bounds_.size(); i-- > 1;) {
      bounds_[i - 1].first = std::min(bounds_[i - 1].first, bounds_[i].first);
    }
  }
  // No work behind that entry begins before.
  std::int64_t bound_of(const std::uint64_t* entry) {
    while (bound_ < bounds_.size() &&
           (entry < bounds_[bound_].begin || entry >= bounds_[bound_].end)) {
      ++bound_;
    }
    return bound_ == bounds_.size() ? std::numeric_limits<std::int64_t>::min()
                                    : bounds_[bound_].first;
  }

  static bool is_earlier(const LaunchedOp& a, const LaunchedOp& b) {
    return a.start != b.start ? a.start < b.start : a.number < b.number;
  }
  void sort() {
    if (!std::is_sorted(waiting_.begin(), waiting_.end(), is_earlier)) {
      std::sort(waiting_.begin(), waiting_.end(), is_earlier);
    }
  }
  void hand_over_before(std::int64_t bound) {
    sort();
    const auto end =
        std::upper_bound(waiting_.begin(), waiting_.end(), bound,
                         [](std::int64_t time, const LaunchedOp& op) { return time < op.start; });
    hand_over(static_cast<std::size_t>(end - waiting_.begin()));
    most_ = std::max(2 * waiting_.size(), 2 * most_waiting_ops);
  }
  void hand_over(std::size_t count) {
    sort();
    for (std::size_t i = 0; i < count; ++i) to_.take(waiting_[i]);
    if (count != 0) newest_ = waiting_[count - 1].start;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  static constexpr std::int64_t latest = std::numeric_limits<std::int64_t>::max();

  const std::vector<std::uint8_t>& sites_;
  const CpuRanges& ranges_;
  const bool keeps_all_;
  std::size_t most_ = 0;  // that wait before some are handed over
  OpTaker& to_;
  std::uint32_t bounded_process_ = CpuRanges::no_place;
  std::vector<ChunkBound> bounds_;  // of the process, in the order in which they are scanned
  std::size_t bound_ = 0;           // where the last entry was
  core::LargeVector<LaunchedOp> begun_, waiting_;
  std::vector<std::uint64_t> free_;  // of begun_
  std::uint64_t ops_ = 0;
  std::int64_t newest_ = std::numeric_limits<std::int64_t>::min();  // start that was handed over
  std::uint32_t last_process_ = CpuRanges::no_place, last_tid_ = 0, last_thread_ = 0;
};

std::uint32_t within_capture(const CpuRanges& ranges, const LaunchedOp& op, std::uint32_t place) {
  if (place == CpuRanges::no_place) return place;
  const CpuRange& range = ranges.of_thread(op.capturer)[place];
  const bool is_within = range.start >= op.capture_began && range.end <= op.launched;
  return is_within ? place : CpuRanges::no_place;
}

}  // namespace

std::uint32_t captured_in(const CpuRanges& ranges, const LaunchedOp& op) {
  if (op.capturer == CpuRanges::no_place) return CpuRanges::no_place;
  return within_capture(ranges, op, ranges.find(op.capturer, op.captured));
}

std::uint32_t captured_around(const CpuRanges& ranges, const LaunchedOp& op, std::uint32_t place) {
  return within_capture(ranges, op, ranges.around(op.capturer, place, op.captured));
}

bool scan_work(const Recording& recording, const std::vector<std::uint8_t>& sites,
               const CpuRanges& ranges, bool keeps_all, OpTaker& to) {
  OpScan scan(recording, sites, ranges, keeps_all, to);
  scan.run_whole();
  return scan.in_order;
}

}  // namespace nvspan::reader
