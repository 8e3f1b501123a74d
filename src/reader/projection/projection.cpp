// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/projection/projection.hpp"

#include "reader/projection/launched_work.hpp"
#include "reader/scan/device_lanes.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <numeric>
#include <optional>
#include <string_view>
#include <vector>

namespace nvspan::reader {
namespace {

// The ranges of one thread that are open while they are walked in the order of their starts. Those
// of different domains, and start/end ranges, overlap without nesting.
class EnclosingRanges {
 public:
  struct Range {
    std::int64_t start, end;
    std::uint64_t row;
  };

  // The tightest that holds the whole time; null: none. Ranges that never end may lie above it, and
  // so many are looked at.
  const Range* around(std::int64_t start, std::int64_t end) const noexcept {
    const Range* tightest = nullptr;
    std::size_t looked = 0;
    for (std::size_t i = open_.size(); i-- > 0 && looked < most_looked; ++looked) {
      const Range& range = open_[i];
      if (range.end < end || range.start > start) continue;
      if (tightest == nullptr || range.end - range.start < tightest->end - tightest->start) {
        tightest = &range;
      }
    }
    return tightest;
  }
  // The one that began last of those that hold it.
  const Range* innermost(std::int64_t start, std::int64_t end) const noexcept {
    std::size_t looked = 0;
    for (std::size_t i = open_.size(); i-- > 0 && looked < most_looked; ++looked) {
      if (open_[i].end >= end && open_[i].start <= start) return &open_[i];
    }
    return nullptr;
  }

  // Ranges that ended before `now` are forgotten.
  void push(const Range& range, std::int64_t now) {
    while (!open_.empty() && open_.back().end < now) open_.pop_back();
    if (open_.size() >= sweep_at_) {
      open_.erase(std::remove_if(open_.begin(), open_.end(),
                                 [&](const Range& each) { return each.end < now; }),
                  open_.end());
      sweep_at_ = std::max<std::size_t>(2 * open_.size(), 64);
    }
    open_.push_back(range);
  }

 private:
  static constexpr std::size_t most_looked = 4096;

  std::vector<Range> open_;
  std::size_t sweep_at_ = 64;
};

// The sequence numbers that torch's emit_nvtx puts into names: "aten::mm, seq = 7" opened the range
// whose backward pass is "MmBackward0, stashed seq = 7" or "..., seq = 7" of an autograd thread.
std::optional<std::int64_t> sequence_of(std::string_view name) noexcept {
  constexpr std::string_view key = "seq = ";
  const std::size_t at = name.rfind(key);
  if (at == std::string_view::npos || at < 2) return std::nullopt;
  std::int64_t number = 0;
  std::size_t i = at + key.size();
  const std::size_t first = i;
  for (; i < name.size() && name[i] >= '0' && name[i] <= '9' && i < first + 18; ++i) {
    number = number * 10 + (name[i] - '0');
  }
  if (i == first) return std::nullopt;
  return number;
}

// Whether a name with a sequence number is of the backward pass.
bool is_backward(std::string_view name) noexcept {
  return name.find("stashed seq = ") != std::string_view::npos ||
         name.find("Backward") != std::string_view::npos ||
         name.rfind("autograd::engine::", 0) == 0 ||
         name.find("AccumulateGrad") != std::string_view::npos;
}

constexpr std::size_t no_place = static_cast<std::size_t>(-1);

using Row = std::uint64_t;
using OpsOfThread = std::vector<LaunchedOp>;

class Projector {
 public:
  Projector(const Recording& recording, const Tables& tables, const Selection& selection,
            const ProjectionOptions& options, Projection& out)
      : recording_(recording),
        tables_(tables),
        ranges_(tables.ranges),
        selection_(selection),
        options_(options),
        out_(out) {}

  void run() {
    find_domains();
    find_threads();
    find_work();
    sort_ranges();
    exclusive_.assign(ranges_.size(), 0);
    parents_.assign(ranges_.size(), -1);
    levels_.assign(ranges_.size(), 0);
    place_.assign(ranges_.size(), no_place);
    out_.outside_first = std::numeric_limits<std::int64_t>::max();
    out_.outside_last = std::numeric_limits<std::int64_t>::min();
    for (std::uint32_t thread = 0; thread < ops_.size(); ++thread) sweep(thread);
    if (out_.outside == 0) out_.outside_first = out_.outside_last = 0;
    for (std::uint32_t thread = 0; thread < backward_.size(); ++thread) sweep_backward(thread);
    finish();
  }

 private:
  bool is_in(Row row, std::int64_t domain) const {
    return recording_.sites()[ranges_.site[row]].domain == domain;
  }
  bool is_device(Row row) const {
    return ranges_.kind[row] == static_cast<std::uint8_t>(RangeKind::device);
  }

  // A thread may have several lanes, as one that another file continues has.
  void find_threads() {
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> first;
    for (std::uint32_t lane = 0; lane < recording_.threads().size(); ++lane) {
      const ReadThread& thread = recording_.threads()[lane];
      threads_.push_back(first.try_emplace({thread.process, thread.tid}, lane).first->second);
    }
  }
  std::uint32_t thread_of(Row row) const { return threads_[ranges_.thread[row]]; }

  bool is_without(Row row) const {
    const std::int32_t name = recording_.sites()[ranges_.site[row]].category_name;
    if (name < 0) return false;
    return std::find(options_.without.begin(), options_.without.end(), recording_.text(name)) !=
           options_.without.end();
  }
  std::int64_t end_of(Row row) const {
    const bool closed = ranges_.end_reason[row] == static_cast<std::uint8_t>(EndReason::closed);
    return closed || !options_.unclosed_end ? ranges_.end[row] : *options_.unclosed_end;
  }

  void find_domains() {
    call_domain_ = recording_.domain_called(options_.call_domain);
    work_domain_ = recording_.domain_called(options_.work_domain);
  }

  void find_work() {
    const std::size_t threads = recording_.threads().size();
    ops_.resize(threads);
    backward_.resize(threads);
    if (ranges_.lane.empty()) return;
    bool any = false;
    for (Row row = 0; row < ranges_.size() && !any; ++row) {
      any = is_device(row) && is_in(row, work_domain_);
    }
    out_.of_device_ranges = !any;
    if (any) find_calls();
    for (Row row = 0; row < ranges_.size(); ++row) {
      if (!is_device(row) || (any && !is_in(row, work_domain_)) || is_without(row)) continue;
      ++out_.work;
      const std::int64_t launcher = any ? call_of(row) : ranges_.launcher[row];
      if (launcher < 0) {
        ++out_.unlaunched;
        if (options_.with_pairs) out_.pairs.push_back({row, Projection::no_range, -1});
        continue;
      }
      const auto by = static_cast<Row>(launcher);
      LaunchedOp op;
      op.called = ranges_.start[by];
      op.returned = any ? ranges_.end[by] : op.called;
      op.start = ranges_.start[row];
      op.end = ranges_.end[row];
      op.call = by;
      op.row = row;
      ops_[thread_of(by)].push_back(op);
    }
  }

  void find_calls() {
    calls_.resize(recording_.processes().size());
    for (Row row = 0; row < ranges_.size(); ++row) {
      if (is_in(row, call_domain_)) calls_[process_of(row)].add(ranges_.payload[row], row);
    }
    for (NumberedCalls<Row>& calls : calls_) calls.sort();
  }
  // The row of the call that launched it; -1: none.
  std::int64_t call_of(Row work) const {
    const Row* const call = calls_[process_of(work)].find(ranges_.launch[work]);
    return call == nullptr ? -1 : static_cast<std::int64_t>(*call);
  }
  std::uint32_t process_of(Row row) const {
    return recording_.threads()[ranges_.thread[row]].process;
  }

  // The rows of ranges of each thread, those that began first before those that they hold.
  void sort_ranges() {
    of_thread_.resize(recording_.threads().size());
    for (Row row = 0; row < ranges_.size(); ++row) {
      const bool elsewhere = ranges_.end_thread[row] != ranges_.thread[row];
      if (is_device(row) || elsewhere || is_in(row, call_domain_)) continue;
      of_thread_[thread_of(row)].push_back(row);
      find_sequence(row);
    }
    const auto earlier = [&](Row a, Row b) {
      return ranges_.start[a] != ranges_.start[b] ? ranges_.start[a] < ranges_.start[b]
                                                  : end_of(a) > end_of(b);
    };
    for (std::vector<Row>& rows : of_thread_) {
      if (!std::is_sorted(rows.begin(), rows.end(), earlier)) {
        std::stable_sort(rows.begin(), rows.end(), earlier);
      }
    }
    for (auto& [number, rows] : forward_) std::sort(rows.begin(), rows.end(), earlier);
  }

  void find_sequence(Row row) {
    const std::uint32_t site = ranges_.site[row];
    if (site >= sequences_.size()) sequences_.resize(recording_.sites().size());
    Sequence& of = sequences_[site];
    if (!of.is_read) {
      of.is_read = true;
      const std::string_view name = recording_.text(recording_.sites()[site].name);
      of.number = sequence_of(name);
      of.is_backward = of.number && is_backward(name);
    }
    if (of.number && !of.is_backward) {
      forward_[{process_of(row), *of.number}].push_back(row);
    }
  }

  // The range of the forward pass whose number a range of the backward pass has: the last one to
  // begin before it, as the numbers of forward ranges are those of the next node that is made.
  std::optional<Row> forward_of(Row backward) const {
    const Sequence& of = sequences_[ranges_.site[backward]];
    if (!of.number || !of.is_backward) return std::nullopt;
    const auto found = forward_.find({process_of(backward), *of.number});
    if (found == forward_.end()) return std::nullopt;
    const std::vector<Row>& rows = found->second;
    const auto after =
        std::upper_bound(rows.begin(), rows.end(), ranges_.start[backward],
                         [&](std::int64_t time, Row row) { return time < ranges_.start[row]; });
    if (after == rows.begin()) return std::nullopt;
    return *(after - 1);
  }

  void sweep(std::uint32_t thread) {
    const LaunchedWork work(std::move(ops_[thread]));
    const std::vector<LaunchedOp>& ops = work.ops();
    EnclosingRanges open;
    std::vector<std::optional<Row>> forward(sequences_.empty() ? 0 : ops.size());
    std::size_t begin = 0, next = 0;  // `next`: the first op that has no innermost range yet
    const auto give_innermost = [&](std::int64_t before) {
      for (; next < ops.size() && ops[next].called < before; ++next) {
        const EnclosingRanges::Range* range = open.innermost(ops[next].called, ops[next].returned);
        if (range == nullptr) {
          leave_outside(ops, next, thread);
        } else {
          exclusive_[range->row] += ops[next].end - ops[next].start;
        }
      }
    };
    for (const Row row : of_thread_[thread]) {
      const std::int64_t start = ranges_.start[row], end = end_of(row);
      give_innermost(start);
      while (begin < ops.size() && ops[begin].called < start) ++begin;
      if (const EnclosingRanges::Range* around = open.around(start, end)) {
        parents_[row] = static_cast<std::int64_t>(around->row);
        levels_[row] = levels_[around->row] + 1;
      }
      open.push({start, end, row}, start);
      const std::size_t until = work.end_of(begin, end);
      if (until <= begin) continue;
      add(row, work.totals(begin, until));
      if (const std::optional<Row> of = forward_of(row)) {
        std::fill(forward.begin() + static_cast<std::ptrdiff_t>(begin),
                  forward.begin() + static_cast<std::ptrdiff_t>(until), of);
      }
      for (std::size_t i = begin; options_.with_pairs && takes(row) && i < until; ++i) {
        out_.pairs.push_back({ops[i].row, row, thread});
      }
    }
    give_innermost(std::numeric_limits<std::int64_t>::max());
    for (std::size_t i = 0; i < forward.size(); ++i) {
      const std::optional<Row> of = forward[i];
      if (!of) continue;
      LaunchedOp op = ops[i];
      op.called = op.returned = ranges_.start[*of];
      backward_[thread_of(*of)].push_back(op);
    }
  }

  void leave_outside(const std::vector<LaunchedOp>& ops, std::size_t i, std::uint32_t thread) {
    ++out_.outside;
    out_.outside_first = std::min(out_.outside_first, ops[i].start);
    out_.outside_last = std::max(out_.outside_last, ops[i].end);
    if (i == 0 || ops[i - 1].call != ops[i].call) ++out_.outside_calls;
    if (options_.with_pairs) out_.pairs.push_back({ops[i].row, Projection::no_range, thread});
  }

  void sweep_backward(std::uint32_t thread) {
    if (backward_[thread].empty()) return;
    const LaunchedWork work(std::move(backward_[thread]));
    std::size_t begin = 0;
    for (const Row row : of_thread_[thread]) {
      const std::int64_t start = ranges_.start[row];
      while (begin < work.ops().size() && work.ops()[begin].called < start) ++begin;
      const std::size_t until = work.end_of(begin, end_of(row));
      if (until <= begin) continue;
      const WorkTotals totals = work.totals(begin, until);
      if (!takes(row)) continue;
      const std::size_t place = place_of(row);
      out_.backward_ops[place] = static_cast<std::int64_t>(totals.ops);
      out_.backward_sum[place] = totals.sum;
      out_.backward_busy[place] = totals.busy;
    }
  }

  bool takes(Row row) const {
    return selection_.takes_site(ranges_.site[row]) &&
           selection_.takes_thread(ranges_.thread[row]) &&
           selection_.takes_time(ranges_.start[row]) &&
           selection_.takes_duration(end_of(row) - ranges_.start[row]);
  }

  std::size_t place_of(Row row) {
    if (place_[row] != no_place) return place_[row];
    place_[row] = out_.row.size();
    out_.row.push_back(static_cast<std::int64_t>(row));
    for (auto* column : {&out_.first, &out_.last, &out_.sum, &out_.busy, &out_.ops, &out_.calls,
                         &out_.backward_ops, &out_.backward_sum, &out_.backward_busy}) {
      column->push_back(0);
    }
    return place_[row];
  }

  void add(Row row, const WorkTotals& totals) {
    with_work_.push_back(row);
    if (!takes(row)) return;
    const std::size_t place = place_of(row);
    out_.first[place] = totals.first;
    out_.last[place] = totals.last;
    out_.sum[place] = totals.sum;
    out_.busy[place] = totals.busy;
    out_.ops[place] = static_cast<std::int64_t>(totals.ops);
    out_.calls[place] = static_cast<std::int64_t>(totals.calls);
  }

  void finish() {
    std::vector<std::int64_t> children(ranges_.size(), 0);
    for (const Row row : with_work_) {
      if (parents_[row] >= 0) ++children[static_cast<std::size_t>(parents_[row])];
    }
    std::vector<std::size_t> order(out_.size());
    std::iota(order.begin(), order.end(), std::size_t{0});
    std::sort(order.begin(), order.end(),
              [&](std::size_t a, std::size_t b) { return out_.row[a] < out_.row[b]; });
    for (auto* column :
         {&out_.row, &out_.first, &out_.last, &out_.sum, &out_.busy, &out_.ops, &out_.calls,
          &out_.backward_ops, &out_.backward_sum, &out_.backward_busy}) {
      std::vector<std::int64_t> sorted;
      sorted.reserve(order.size());
      for (const std::size_t at : order) sorted.push_back((*column)[at]);
      *column = std::move(sorted);
    }
    for (const std::int64_t row : out_.row) {
      const auto at = static_cast<std::size_t>(row);
      out_.end.push_back(end_of(at));
      out_.exclusive.push_back(exclusive_[at]);
      out_.level.push_back(levels_[at]);
      out_.parent.push_back(parents_[at]);
      out_.children.push_back(children[at]);
    }
  }

  struct Sequence {
    bool is_read = false, is_backward = false;
    std::optional<std::int64_t> number;
  };

  const Recording& recording_;
  const Tables& tables_;
  const RangeTable& ranges_;
  const Selection& selection_;
  const ProjectionOptions& options_;
  Projection& out_;
  std::int64_t call_domain_ = -1, work_domain_ = -1;
  std::vector<std::uint32_t> threads_;     // the first lane of each lane's thread
  std::vector<NumberedCalls<Row>> calls_;  // of each process
  std::vector<OpsOfThread> ops_, backward_;
  std::vector<std::vector<Row>> of_thread_;
  std::vector<Sequence> sequences_;  // of each site
  std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<Row>> forward_;
  std::vector<std::int64_t> exclusive_, parents_, levels_;
  std::vector<std::size_t> place_;
  std::vector<Row> with_work_;
};

}  // namespace

Projection project(const Recording& recording, const Tables& tables, const Selection& selection,
                   const ProjectionOptions& options) {
  Projection projection;
  Projector(recording, tables, selection, options, projection).run();
  return projection;
}

}  // namespace nvspan::reader
