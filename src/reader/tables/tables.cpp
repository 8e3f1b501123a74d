// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/tables/tables.hpp"

#include "reader/scan/range_scan.hpp"

#include <algorithm>
#include <cstring>
#include <limits>

namespace nvspan::reader {

namespace {

class TableBuilder : public RangeScan<TableBuilder> {
 public:
  TableBuilder(const Recording& recording, Tables& tables)
      : RangeScan(recording, Selection::whole()), tables_(tables) {}

  void begin_thread(std::uint32_t thread) {
    first_rows_.emplace_back(thread, tables_.ranges.size());
  }

  std::uint64_t open(const PushRange& range, std::uint64_t parent, const EntryPayload& payload) {
    see_payload(payload, range.start);
    return add(range.site, time(range.start), RangeKind::push_pop,
               parent == no_row ? -1 : static_cast<std::int64_t>(parent), range.depth, range.level,
               0, payload);
  }
  std::uint64_t opened(const ScannedRange& range, std::uint64_t id, std::uint64_t ticks,
                       const EntryPayload& payload) {
    if (range.kind == RangeKind::device) {
      return opened_device(range.site, range.start, id, ticks, payload);
    }
    see_payload(payload, ticks);
    return add(range.site, range.start, range.kind, -1, 0, 0, id, payload);
  }
  [[gnu::always_inline]] void ended(const ScannedRange& range) {
    RangeTable& ranges = tables_.ranges;
    ranges.end[range.row] = range.end;
    ranges.self[range.row] = range.self;
    ranges.end_reason[range.row] = static_cast<std::uint8_t>(range.reason);
    if (range.kind == RangeKind::push_pop) return;
    if (range.end_thread != range.thread) ranges.end_thread[range.row] = range.end_thread;
    if (range.reason != EndReason::closed) unclosed_.push_back(range.row);
  }
  void left_out(const ScannedRange& range) { left_out_.push_back(range.row); }
  void orphan(std::uint32_t, std::uint64_t) { ++tables_.orphan_ends; }
  void lone_ends(std::uint64_t count) { tables_.orphan_ends += count; }
  void loss(LossKind, const ReadLoss& loss) { tables_.losses.push_back(loss); }

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

  void counter(std::uint32_t subject, record::EntryKind kind, std::uint64_t ticks,
               std::uint64_t bits) {
    if (subject >= process_->counters.size()) return damaged();
    CounterTable& counters = tables_.counters;
    counters.time.push_back(process_->time(ticks));
    counters.thread.push_back(thread_);
    counters.counter.push_back(process_->counters[subject]);
    double value = std::numeric_limits<double>::quiet_NaN();
    std::int64_t integer = 0;
    if (kind == record::EntryKind::counter_f64) std::memcpy(&value, &bits, sizeof value);
    if (kind == record::EntryKind::counter_i64) {
      integer = static_cast<std::int64_t>(bits);
      value = static_cast<double>(integer);
    }
    counters.value.push_back(value);
    counters.integer.push_back(integer);
    counters.kind.push_back(
        static_cast<std::uint8_t>(static_cast<std::uint32_t>(kind) -
                                  static_cast<std::uint32_t>(record::EntryKind::counter_i64)));
  }

  void damaged() { ++damaged_; }

  void end_process(std::uint32_t process) {
    end_together(recording_.processes()[process].end);
    find_launchers(process);
    calls_.clear();
    first_rows_.clear();
  }
  void finish_devices() {
    RangeTable& ranges = tables_.ranges;
    if (ranges.lane.empty()) return;
    ranges.lane.resize(ranges.size(), no_lane);
    ranges.launcher.resize(ranges.size(), -1);
    ranges.launch.resize(ranges.size(), 0);
  }
  void leave_short_ones_out() {
    if (left_out_.empty()) return;
    std::vector<bool> keep(tables_.ranges.size(), true);
    for (const std::uint64_t row : left_out_) keep[row] = false;
    tables_.ranges = select_ranges(tables_.ranges, keep);
  }
  std::uint64_t damage() const { return damaged_; }

 private:
  [[gnu::noinline]] std::uint64_t opened_device(std::uint32_t site, std::int64_t start,
                                                std::uint64_t id, std::uint64_t ticks,
                                                const EntryPayload& payload) {
    DeviceCall call;
    read_device_call(*process_, recording_.sites()[site], payload, call);
    see_payload(call.payload, ticks);
    const std::uint64_t row = add(site, start, RangeKind::device, -1, 0, 0, id, call.payload);
    add_device(row, call, ticks);
    return row;
  }
  std::uint64_t keep(const EntryPayload& payload) {
    if (!payload.present) return 0;
    if (payload.bytes == nullptr) return payload.bits;
    const std::uint64_t offset = tables_.bytes.size();
    const auto* begin = reinterpret_cast<const std::uint8_t*>(payload.bytes);
    tables_.bytes.insert(tables_.bytes.end(), begin, begin + payload.bits);
    return offset;
  }
  static std::uint32_t kept_bytes(const EntryPayload& payload) {
    return payload.bytes == nullptr ? 0 : static_cast<std::uint32_t>(payload.bits);
  }

  std::uint64_t add(std::uint32_t site, std::int64_t start, RangeKind kind, std::int64_t parent,
                    std::uint32_t depth, std::uint32_t level, std::uint64_t id,
                    const EntryPayload& payload) {
    RangeTable& ranges = tables_.ranges;
    ranges.start.push_back(start);
    ranges.end.push_back(start);
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
  // All that is still open then has one end: when the process ended, or the last of them began.
  void end_together(std::int64_t last) {
    RangeTable& ranges = tables_.ranges;
    for (const std::uint64_t row : unclosed_) last = std::max(last, ranges.start[row]);
    for (const std::uint64_t row : unclosed_) {
      ranges.end[row] = last;
      ranges.self[row] = last - ranges.start[row];
    }
    unclosed_.clear();
  }
  void add_device(std::uint64_t row, const DeviceCall& call, std::uint64_t ticks) {
    RangeTable& ranges = tables_.ranges;
    ranges.lane.resize(row, no_lane);
    ranges.launcher.resize(row, -1);
    const std::uint32_t process = recording_.threads()[thread_].process;
    ranges.lane.push_back(tables_.lanes.lane(process, call, ticks));
    ranges.launcher.push_back(-1);
    ranges.launch.resize(row, 0);
    ranges.launch.push_back(call.launch);
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
  Tables& tables_;
  std::uint64_t damaged_ = 0;
  std::vector<std::uint64_t> unclosed_;  // rows of start/end ranges of this process
  std::vector<std::uint64_t> left_out_;  // rows
  struct Call {
    std::uint64_t row;
    std::uint64_t ticks;
    std::uint32_t tid;
  };
  std::vector<Call> calls_;
  std::vector<std::pair<std::uint32_t, std::uint64_t>> first_rows_;  // of this process's threads
};

}  // namespace

Tables make_tables(Recording& recording) {
  Tables tables;
  tables.losses = recording.losses();
  TableBuilder builder(recording, tables);
  builder.run_whole();
  builder.finish_devices();
  builder.leave_short_ones_out();
  if (builder.damage() != 0) {
    recording.add_problem("some entries are damaged and were left out");
  }
  return tables;
}

}  // namespace nvspan::reader
