// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/steps/request_work.hpp"

#include "reader/loops/owners.hpp"
#include "reader/steps/step_launches.hpp"

#include <algorithm>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr auto no_thread = static_cast<std::uint32_t>(-1);

class WorkScan : public RangeScan<WorkScan> {
 public:
  WorkScan(const Recording& recording, const std::string& call_domain,
           const std::vector<std::string>& work_domains)
      : RangeScan(recording, Selection::whole()),
        launches_(recording, call_domain, work_domains),
        ops(recording.processes().size()) {}

  std::uint64_t open(const PushRange& range, std::uint64_t, const EntryPayload& payload) {
    if (launches_.is_call(range.site, *process_))
      launches_.add_call(time(range.start), thread_, payload);
    return no_row;
  }
  std::uint64_t opened(const ScannedRange& range, std::uint64_t, std::uint64_t ticks,
                       const EntryPayload& payload) {
    if (recording_.sites()[range.site].device != 0) {
      return launches_.begin(recording_.threads()[thread_].process, thread_, range.site, -1,
                             payload);
    }
    if (launches_.is_call(range.site, *process_)) launches_.add_call(time(ticks), thread_, payload);
    return no_row;
  }
  void ended(const ScannedRange& range) {
    if (range.kind == RangeKind::device) launches_.end(range.row, range);
  }
  void left_out(const ScannedRange& range) { ended(range); }
  void end_process(std::uint32_t process) { ops[process] = launches_.take(); }

  bool has_seen() const noexcept { return launches_.has_seen(); }

 private:
  StepLaunches launches_;

 public:
  std::vector<core::LargeVector<StepOp>> ops;  // of each process
};

// Requests and the ranges within them that are open, at times that only grow.
class OpenNow {
 public:
  explicit OpenNow(const RequestPhases& phases)
      : ranges_(phases.ranges),
        requests_(phases.requests),
        owners_(owners_of(phases.ranges, phases.requests)),
        thread_of_(phases.ranges),
        open_rows_(phases.ranges.of_threads.size()) {
    std::vector<std::uint8_t> is_request(ranges_.size());
    for (const RangeRow row : requests_.rows) is_request[row] = 1;
    for (RangeRow row = 0; row < ranges_.size(); ++row) {
      if (is_request[row] == 0 && owners_.step[row] != Owners::none) rows_.push_back(row);
    }
    std::stable_sort(rows_.begin(), rows_.end(),
                     [&](RangeRow a, RangeRow b) { return ranges_.start[a] < ranges_.start[b]; });
  }

  void advance(std::int64_t to) {
    for (; begun_ < requests_.size() && requests_.start[begun_] <= to; ++begun_) {
      open_.push_back(static_cast<std::uint32_t>(begun_));
    }
    const auto ended = [&](std::uint32_t one) { return requests_.end[one] < to; };
    open_.erase(std::remove_if(open_.begin(), open_.end(), ended), open_.end());
    for (; next_row_ < rows_.size() && ranges_.start[rows_[next_row_]] <= to; ++next_row_) {
      open_rows_[thread_of_(rows_[next_row_])].push_back(rows_[next_row_]);
    }
    now_ = to;
  }

  // The request that a launch on the thread is of; Owners::none. `is_told`: no other could be it.
  struct Launching {
    std::uint32_t request = Owners::none;
    bool is_told = true;
  };
  Launching launching(std::uint32_t process, std::uint32_t thread) {
    Launching here, of_process;
    for (const std::uint32_t one : open_) {
      const auto its = static_cast<std::uint32_t>(requests_.thread[one]);
      if (its == thread) take(here, one);
      if (ranges_.process_of_thread(its) == process) take(of_process, one);
    }
    const Launching& alone = here.request == Owners::none ? of_process : here;
    if (alone.is_told) return alone;
    return by_ranges(thread);
  }
  // The group of the outermost of its ranges that are open on the thread; -1: none is.
  std::int64_t part_of(std::uint32_t request, std::uint32_t thread) {
    for (const RangeRow row : open_rows(thread)) {
      if (owners_.step[row] == request) return ranges_.group[row];
    }
    return -1;
  }

 private:
  static void take(Launching& found, std::uint32_t request) {
    if (found.request == request) return;
    found.is_told = found.request == Owners::none;
    found.request = request;
  }
  // In the order of their starts.
  const RangeRows& open_rows(std::uint32_t thread) {
    RangeRows& rows = open_rows_[thread];
    const auto ended = [&](RangeRow row) { return ranges_.end[row] < now_; };
    rows.erase(std::remove_if(rows.begin(), rows.end(), ended), rows.end());
    return rows;
  }
  // No other task runs while a push/pop range is open; several spans may be open.
  Launching by_ranges(std::uint32_t thread) {
    Launching found;
    if (thread >= open_rows_.size()) return {Owners::none, false};
    RangeRow innermost = no_range;
    bool is_doubtful = false;
    for (const RangeRow row : open_rows(thread)) {
      if ((ranges_.flags[row] & LoopRanges::start_end) == 0) innermost = row;
      is_doubtful = is_doubtful || owners_.doubts(row);
      take(found, owners_.step[row]);
    }
    if (innermost != no_range) {
      return {owners_.step[innermost], !owners_.doubts(innermost)};
    }
    return {found.request, found.request != Owners::none && found.is_told && !is_doubtful};
  }

  const LoopRanges& ranges_;
  const LoopSteps& requests_;
  const Owners owners_;
  RangeRows rows_;  // within requests, by start
  std::size_t begun_ = 0, next_row_ = 0;
  std::int64_t now_ = 0;
  std::vector<std::uint32_t> open_;
  ThreadOf thread_of_;
  std::vector<RangeRows> open_rows_;  // of each thread
};

}  // namespace

void add_request_work(Steps& steps, const Recording& recording, const RequestPhases& phases,
                      const std::string& call_domain,
                      const std::vector<std::string>& work_domains) {
  WorkScan scan(recording, call_domain, work_domains);
  scan.run_whole();
  struct Launch {
    std::int64_t at;
    std::uint32_t process;
    const StepOp* op;
  };
  std::vector<Launch> launches;
  for (std::uint32_t process = 0; process < scan.ops.size(); ++process) {
    for (const StepOp& op : scan.ops[process]) {
      launches.push_back({op.is_launch_known ? op.launched : op.start, process, &op});
    }
  }
  std::stable_sort(launches.begin(), launches.end(),
                   [](const Launch& a, const Launch& b) { return a.at < b.at; });
  OpenNow open(phases);
  core::LargeVector<OwnedOp> owned;
  for (const Launch& launch : launches) {
    open.advance(launch.at);
    const StepOp& op = *launch.op;
    const std::uint32_t thread = op.is_launch_known ? op.thread : no_thread;
    const OpenNow::Launching found = open.launching(launch.process, thread);
    if (!found.is_told) {
      ++steps.unshared;
      continue;
    }
    if (found.request == Owners::none) {
      ++steps.outside;
      continue;
    }
    if (!op.is_launch_known) ++steps.by_run_time;
    const std::int64_t group = op.is_launch_known ? open.part_of(found.request, thread) : -1;
    const auto phase = std::find(phases.groups.begin(), phases.groups.end(), group);
    const auto place = phase == phases.groups.end()
                           ? static_cast<std::ptrdiff_t>(steps.phases) - 1  // outside of them
                           : phase - phases.groups.begin();
    owned.push_back(
        OwnedOp{found.request, static_cast<std::uint16_t>(place), op.start, op.end,
                op.is_launch_known ? std::max<std::int64_t>(op.start - launch.at, 0) : -1,
                Steps::not_known});
  }
  steps.has_work = !launches.empty();
  steps.of_device_ranges = steps.has_work && !scan.has_seen();
  add_owned(steps, std::move(owned));
}

}  // namespace nvspan::reader
