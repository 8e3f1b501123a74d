// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/projection/work_scan.hpp"

#include "reader/scan/device_lanes.hpp"
#include "reader/scan/range_scan.hpp"

namespace nvspan::reader {
namespace {

// CUPTI hands over the work of a stream in its order, and that of several by the buffer, which
// holds some 40,000 pieces.
constexpr std::size_t most_waiting_ops = std::size_t{1} << 17;

class OpScan : public RangeScan<OpScan> {
 public:
  OpScan(const Recording& recording, const std::vector<std::uint8_t>& sites,
         const CpuRanges& ranges, bool keeps_all, OpTaker& to)
      : RangeScan(recording, Selection::whole()),
        sites_(sites),
        ranges_(ranges),
        most_(keeps_all ? std::numeric_limits<std::size_t>::max() : 2 * most_waiting_ops),
        to_(to) {}

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
    if (range.reason == EndReason::closed) add(begun_[range.row], range.start, range.end);
  }
  void left_out(const ScannedRange& range) { ended(range); }
  void whole(std::uint32_t site, std::uint64_t begin, std::uint64_t end,
             const EntryPayload& payload) {
    if (sites_[site] == 0) return;
    LaunchedOp op = op_of(site, thread_, payload);
    add(op, time(begin), time(end));
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
    if (waiting_.size() >= most_) hand_over(most_waiting_ops);
  }
  void hand_over(std::size_t count) {
    const auto earlier = [](const LaunchedOp& a, const LaunchedOp& b) { return a.start < b.start; };
    if (!std::is_sorted(waiting_.begin(), waiting_.end(), earlier)) {
      std::stable_sort(waiting_.begin(), waiting_.end(), earlier);
    }
    for (std::size_t i = 0; i < count; ++i) to_.take(waiting_[i]);
    if (count != 0) newest_ = waiting_[count - 1].start;
    waiting_.erase(waiting_.begin(), waiting_.begin() + static_cast<std::ptrdiff_t>(count));
  }

  const std::vector<std::uint8_t>& sites_;
  const CpuRanges& ranges_;
  const std::size_t most_;
  OpTaker& to_;
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
