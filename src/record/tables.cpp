// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/tables.hpp"

#include "record/recorded_payloads.hpp"
#include "record/select.hpp"
#include "record/thread_scan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace nvspan {

namespace {

struct PendingEnd {
  std::int64_t time;
  std::uint32_t thread;
};

class TableBuilder : public ThreadVisitor {
 public:
  TableBuilder(const Recording& recording, Tables& tables)
      : recording_(recording), tables_(tables) {}

  void begin_process() {
    started_.clear();
    ended_.clear();
    calls_.clear();
    first_rows_.clear();
  }
  void begin_thread(std::uint32_t thread) {
    thread_ = thread;
    first_rows_.emplace_back(thread, tables_.ranges.size());
    process_ = &recording_.processes()[recording_.threads()[thread].process];
  }

  std::uint64_t open(const PushRange& range, std::uint64_t parent, const EntryPayload& payload) {
    return add(range.site, range.start, RangeKind::push_pop,
               parent == no_row ? -1 : static_cast<std::int64_t>(parent), range.depth, range.level,
               0, payload);
  }
  void close(const PushRange& range, std::uint64_t ticks, const EntryPayload&) {
    finish(range.row, process_->time(ticks), range.self, EndReason::closed);
  }
  void unclosed(const PushRange& range, std::uint64_t ticks, EndReason reason) {
    finish(range.row, process_->time(ticks), range.self, reason);
  }
  void orphan(std::uint32_t, std::uint64_t) { ++tables_.orphan_ends; }

  void end_thread() {
    if (not_kept_.count == 0) return;
    tables_.losses.push_back(recording_.loss_in(thread_, not_kept_.from, not_kept_.to,
                                                not_kept_.count, payload_loss_text));
    not_kept_ = LossWindow{};
  }

  void mark(std::uint32_t site, std::uint64_t ticks, const EntryPayload& payload) {
    see_payload(payload, ticks);
    MarkTable& marks = tables_.marks;
    marks.time.push_back(process_->time(ticks));
    marks.thread.push_back(thread_);
    marks.site.push_back(site);
    marks.payload.push_back(keep(payload));
    marks.payload_bytes.push_back(kept_bytes(payload));
    marks.has_payload.push_back(payload.present);
  }

  void start(std::uint32_t site, std::uint64_t ticks, std::uint64_t id,
             const EntryPayload& payload) {
    const ReadSite& read = recording_.sites()[site];
    DeviceCall call;
    const bool of_device = read_device_call(*process_, read, payload, call);
    const std::uint64_t row =
        add(site, ticks, read.started_kind(), -1, 0, 0, id, of_device ? call.payload : payload);
    if (of_device) add_device(row, call, ticks);
    const auto ended = ended_.find(id);
    if (ended != ended_.end()) {
      close_started(row, ended->second);
      ended_.erase(ended);
    } else {
      started_[id] = row;
    }
  }
  void end(std::uint32_t, std::uint64_t ticks, std::uint64_t id, const EntryPayload&) {
    const PendingEnd end{process_->time(ticks), thread_};
    const auto found = started_.find(id);
    if (found == started_.end()) {
      if (!ended_.emplace(id, end).second) ++tables_.orphan_ends;
      return;
    }
    close_started(found->second, end);
    started_.erase(found);
  }

  void counter(std::uint32_t subject, EntryKind kind, std::uint64_t ticks, std::uint64_t bits) {
    if (subject >= process_->counters.size()) return damaged();
    CounterTable& counters = tables_.counters;
    counters.time.push_back(process_->time(ticks));
    counters.thread.push_back(thread_);
    counters.counter.push_back(process_->counters[subject]);
    double value = std::numeric_limits<double>::quiet_NaN();
    std::int64_t integer = 0;
    if (kind == EntryKind::counter_f64) std::memcpy(&value, &bits, sizeof value);
    if (kind == EntryKind::counter_i64) {
      integer = static_cast<std::int64_t>(bits);
      value = static_cast<double>(integer);
    }
    counters.value.push_back(value);
    counters.integer.push_back(integer);
    counters.kind.push_back(static_cast<std::uint8_t>(
        static_cast<std::uint32_t>(kind) - static_cast<std::uint32_t>(EntryKind::counter_i64)));
  }

  void lost(const LossWindow& window, LossReason reason) {
    tables_.losses.push_back(recording_.loss_in(thread_, window.from, window.to, window.count,
                                                loss_reason_text(reason)));
  }
  void gap(std::uint64_t from, std::uint64_t to, std::uint64_t count) {
    tables_.losses.push_back(recording_.loss_in(thread_, from, to, count, overwritten_text));
  }
  void damaged() { ++damaged_; }

  // After all threads of a process.
  void end_process(std::uint32_t process) {
    const ReadProcess& read = recording_.processes()[process];
    RangeTable& ranges = tables_.ranges;
    std::int64_t last = read.end;
    for (const auto& entry : started_) last = std::max(last, ranges.start[entry.second]);
    const auto reason =
        static_cast<std::uint8_t>(read.closed ? EndReason::process_end : EndReason::killed);
    for (const auto& entry : started_) {
      ranges.end[entry.second] = last;
      ranges.self[entry.second] = last - ranges.start[entry.second];
      ranges.end_reason[entry.second] = reason;
    }
    tables_.orphan_ends += ended_.size();
    find_launchers(process);
  }
  void finish_devices() {
    RangeTable& ranges = tables_.ranges;
    if (ranges.lane.empty()) return;
    ranges.lane.resize(ranges.size(), no_lane);
    ranges.launcher.resize(ranges.size(), -1);
  }
  std::uint64_t damage() const { return damaged_; }

 private:
  std::uint64_t keep(const EntryPayload& payload) {
    if (!payload.present) return 0;
    if (payload.bytes == nullptr) return payload.bits;
    const std::uint64_t offset = tables_.bytes.size();
    const auto* begin = reinterpret_cast<const std::uint8_t*>(payload.bytes);
    tables_.bytes.insert(tables_.bytes.end(), begin, begin + payload.bits);
    return offset;
  }
  void see_payload(const EntryPayload& payload, std::uint64_t ticks) {
    const std::uint64_t count = payloads_not_kept(payload);
    if (count == 0) return;
    if (not_kept_.count == 0) not_kept_.from = ticks;
    not_kept_.count += count;
    not_kept_.to = ticks;
  }
  static std::uint32_t kept_bytes(const EntryPayload& payload) {
    return payload.bytes == nullptr ? 0 : static_cast<std::uint32_t>(payload.bits);
  }

  std::uint64_t add(std::uint32_t site, std::uint64_t ticks, RangeKind kind, std::int64_t parent,
                    std::uint32_t depth, std::uint32_t level, std::uint64_t id,
                    const EntryPayload& payload) {
    see_payload(payload, ticks);
    RangeTable& ranges = tables_.ranges;
    ranges.start.push_back(process_->time(ticks));
    ranges.end.push_back(ranges.start.back());
    ranges.self.push_back(0);
    ranges.parent.push_back(parent);
    ranges.thread.push_back(thread_);
    ranges.end_thread.push_back(thread_);
    ranges.site.push_back(site);
    ranges.depth.push_back(depth);
    ranges.level.push_back(level);
    ranges.range_id.push_back(id);
    ranges.payload.push_back(keep(payload));
    ranges.payload_bytes.push_back(kept_bytes(payload));
    ranges.has_payload.push_back(payload.present);
    ranges.kind.push_back(static_cast<std::uint8_t>(kind));
    ranges.end_reason.push_back(static_cast<std::uint8_t>(EndReason::killed));
    return ranges.start.size() - 1;
  }
  void finish(std::uint64_t row, std::int64_t end, std::uint64_t self_ticks, EndReason reason) {
    RangeTable& ranges = tables_.ranges;
    if (row >= ranges.size()) return;
    ranges.end[row] = end;
    ranges.self[row] = process_->duration(self_ticks);
    ranges.end_reason[row] = static_cast<std::uint8_t>(reason);
  }
  void add_device(std::uint64_t row, const DeviceCall& call, std::uint64_t ticks) {
    RangeTable& ranges = tables_.ranges;
    ranges.lane.resize(row, no_lane);
    ranges.launcher.resize(row, -1);
    const std::uint32_t process = recording_.threads()[thread_].process;
    ranges.lane.push_back(tables_.lanes.lane(process, call, ticks));
    ranges.launcher.push_back(-1);
    if (call.launched != 0) calls_.push_back(Call{row, call.launched, call.thread});
  }
  void find_launchers(std::uint32_t process) {
    for (const Call& call : calls_) {
      const std::int64_t time = recording_.processes()[process].time(call.ticks);
      for (std::size_t i = 0; i < first_rows_.size(); ++i) {
        if (recording_.threads()[first_rows_[i].first].tid != call.tid) continue;
        const std::uint64_t last =
            i + 1 < first_rows_.size() ? first_rows_[i + 1].second : tables_.ranges.size();
        const std::int64_t found = innermost(first_rows_[i].second, last, time);
        if (found >= 0) tables_.ranges.launcher[call.row] = found;
      }
    }
  }
  // The innermost push range that was open at that time, among one thread's rows; -1: none.
  std::int64_t innermost(std::uint64_t begin, std::uint64_t end, std::int64_t time) const {
    const RangeTable& ranges = tables_.ranges;
    const auto rows = ranges.start.begin();
    auto row = std::upper_bound(rows + static_cast<std::ptrdiff_t>(begin),
                                rows + static_cast<std::ptrdiff_t>(end), time) -
               rows - 1;
    constexpr int most_others = 4096;  // start/end ranges in between
    const auto first = static_cast<std::int64_t>(begin);
    for (int i = 0; i < most_others && row >= first; ++i, --row) {
      if (ranges.kind[static_cast<std::size_t>(row)] == 0) break;
    }
    while (row >= first && ranges.end[static_cast<std::size_t>(row)] <= time) {
      const std::int64_t parent = ranges.parent[static_cast<std::size_t>(row)];
      row = parent < row ? parent : -1;
    }
    const bool found = row >= first && ranges.kind[static_cast<std::size_t>(row)] == 0;
    return found ? row : -1;
  }
  void close_started(std::uint64_t row, const PendingEnd& end) {
    RangeTable& ranges = tables_.ranges;
    ranges.end[row] = end.time;
    ranges.self[row] = end.time - ranges.start[row];
    ranges.end_thread[row] = end.thread;
    ranges.end_reason[row] = static_cast<std::uint8_t>(EndReason::closed);
  }

  const Recording& recording_;
  Tables& tables_;
  const ReadProcess* process_ = nullptr;
  std::uint32_t thread_ = 0;
  std::uint64_t damaged_ = 0;
  LossWindow not_kept_ = {};  // payloads of this thread
  std::unordered_map<std::uint64_t, std::uint64_t> started_;
  std::unordered_map<std::uint64_t, PendingEnd> ended_;
  struct Call {
    std::uint64_t row;
    std::uint64_t ticks;
    std::uint32_t tid;
  };
  std::vector<Call> calls_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> first_rows_;  // of this process's threads
};

// The recorder leaves short push/pop ranges out. Where a start/end range ends nobody looks back.
void leave_short_ones_out(const Recording& recording, RangeTable& ranges) {
  bool any = false;
  for (const ReadProcess& process : recording.processes()) {
    any = any || process.header.min_duration != 0;
  }
  if (!any) return;
  std::vector<bool> keep(ranges.size(), true);
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    if (ranges.kind[i] == static_cast<std::uint8_t>(RangeKind::push_pop)) continue;
    if (ranges.end_reason[i] != static_cast<std::uint8_t>(EndReason::closed)) continue;
    const ReadThread& thread = recording.threads()[ranges.thread[i]];
    const auto duration = static_cast<std::uint64_t>(ranges.end[i] - ranges.start[i]);
    keep[i] = duration >= recording.processes()[thread.process].header.min_duration;
  }
  ranges = select_ranges(ranges, keep);
}

}  // namespace

Tables make_tables(Recording& recording) {
  Tables tables;
  tables.losses = recording.losses();
  TableBuilder builder(recording, tables);
  const auto& threads = recording.threads();
  for (std::uint32_t process = 0; process < recording.processes().size(); ++process) {
    builder.begin_process();
    for (std::uint32_t i = 0; i < threads.size(); ++i) {
      if (threads[i].process != process) continue;
      builder.begin_thread(i);
      scan_thread(recording, threads[i], builder);
      builder.end_thread();
    }
    builder.end_process(process);
  }
  builder.finish_devices();
  leave_short_ones_out(recording, tables.ranges);
  if (builder.damage() != 0) {
    recording.add_problem("some entries are damaged and were left out");
  }
  return tables;
}

}  // namespace nvspan
