// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/projection/projection.hpp"

#include "reader/projection/cpu_ranges.hpp"
#include "reader/projection/replays.hpp"
#include "reader/projection/sequence_names.hpp"
#include "reader/projection/work_scan.hpp"
#include "reader/scan/work_sites.hpp"

#include <algorithm>
#include <map>
#include <memory>
#include <numeric>
#include <unordered_set>
#include <utility>

namespace nvspan::reader {
namespace {

// Numbers that were met before, most of them from a dense series.
class MetNumbers {
 public:
  // Whether it is new.
  bool add(std::uint64_t number) {
    if (number >= most_dense) return others_.insert(number).second;
    if (number >= dense_.size())
      dense_.resize(std::max<std::size_t>(2 * dense_.size(), number + 1));
    const bool is_new = !dense_[number];
    dense_[number] = true;
    return is_new;
  }

 private:
  static constexpr std::uint64_t most_dense = std::uint64_t{1} << 30;
  std::vector<bool> dense_;
  std::unordered_set<std::uint64_t> others_;
};

// What autograd has launched for it.
struct BackwardWork {
  CoveredTime covered;
  std::int64_t sum = 0, ops = 0;
};

struct SequenceNumber {
  std::optional<std::int64_t> number;
  bool is_backward = false;
};

class Projector : public OpTaker {
 public:
  Projector(const Recording& recording, const ProjectionOptions& options, CpuRanges& ranges,
            Projection& out)
      : recording_(recording), options_(options), ranges_(ranges), out_(out), replays_(ranges) {
    work_.resize(ranges.threads());
    calls_.resize(recording.processes().size());
    find_without();
    find_sequences();
  }

  void take(const LaunchedOp& op) override {
    if (without_[op.site]) return;
    ++out_.work;
    if (!op.is_launched) {
      ++out_.unlaunched;
      return add_pair(op, {}, false);
    }
    std::int64_t at = op.launched;
    std::uint32_t place = CpuRanges::no_place;
    if (op.thread != CpuRanges::no_place) place = ranges_.at(op.thread, at);
    const bool is_replayed = !options_.as_nsys && replays_.take(op, {op.thread, place});
    if (place == CpuRanges::no_place) {
      if (is_replayed) return;
      // The ranges around a device range's call launched it: in none it has no launch.
      ++(out_.of_device_ranges ? out_.unlaunched : out_.outside);
      return add_pair(op, {op.thread, place}, !out_.of_device_ranges);
    }
    std::uint64_t call = op.launch;
    if (out_.of_device_ranges) {
      const CpuRange& launcher = range(op.thread, place);
      at = launcher.start;
      call = launcher.row;
    }
    const bool is_new_call = calls_[out_.of_device_ranges ? 0 : op.process].add(call);
    const std::int64_t duration = op.end - op.start;
    if (!is_replayed) of({op.thread, place}).exclusive += duration;
    std::optional<RangePlace> forward;
    for (; place != CpuRanges::no_place; place = ranges_.around(op.thread, place, at)) {
      RangeWork& work = of({op.thread, place});
      work.add(op);
      work.calls += is_new_call ? 1 : 0;
      if (!forward) forward = forward_of(op.thread, place);
      add_pair(op, {op.thread, place}, true);
    }
    if (forward) add_backward(op, *forward);
  }

  // Fills the columns with the ranges that the selection takes.
  void finish(const Selection& selection) {
    for (std::uint32_t thread = 0; thread < ranges_.threads(); ++thread) {
      if (!work_[thread].empty()) nest(thread);
    }
    replays_.nest();
    for (const Replays::Range& replay : replays_.all()) {
      const auto& [thread, place] = replay.launcher;
      if (replay.outer == Replays::none && place != CpuRanges::no_place) {
        ++nested_[thread][place].children;
      }
    }
    std::vector<Shown> taken;
    for (std::uint32_t thread = 0; thread < work_.size(); ++thread) {
      for (std::uint32_t place = 0; place < work_[thread].size(); ++place) {
        if (work_[thread][place].ops == 0 && !backward_of({thread, place}).ops) continue;
        if (takes(selection, range(thread, place))) taken.push_back({{thread, place}, nullptr});
      }
    }
    for (const Replays::Range& replay : replays_.all()) {
      CpuRange replayed = range(replay.captured.thread, replay.captured.place);
      replayed.start = replay.launched;
      replayed.end = replay.launched + replay.work.covered.last - replay.work.covered.first;
      if (takes(selection, replayed)) taken.push_back({replay.captured, &replay});
    }
    const auto order = [&](const Shown& shown) {
      const std::int64_t launched = shown.replay == nullptr ? 0 : shown.replay->launched;
      return std::make_pair(range(shown.place.thread, shown.place.place).row, launched);
    };
    std::sort(taken.begin(), taken.end(),
              [&](const Shown& a, const Shown& b) { return order(a) < order(b); });
    for (const Shown& shown : taken) show(shown);
    const auto is_left_out = [&](const Projection::Pair& pair) {
      return pair.range != Projection::no_range && !taken_rows_.count(pair.range);
    };
    if (!options_.with_pairs) return;
    for (const std::int64_t row : out_.row) taken_rows_.insert(static_cast<std::uint64_t>(row));
    out_.pairs.erase(std::remove_if(out_.pairs.begin(), out_.pairs.end(), is_left_out),
                     out_.pairs.end());
  }

 private:
  struct Nested {
    std::uint32_t parent = CpuRanges::no_place;
    std::int64_t level = 0, children = 0;
  };
  struct Shown {
    RangePlace place;
    const Replays::Range* replay;  // null: the range itself
  };

  const CpuRange& range(std::uint32_t thread, std::uint32_t place) const {
    return ranges_.of_thread(thread)[place];
  }
  RangeWork& of(const RangePlace& place) {
    core::LargeVector<RangeWork>& of_thread = work_[place.thread];
    if (of_thread.empty()) of_thread.resize(ranges_.of_thread(place.thread).size());
    return of_thread[place.place];
  }
  BackwardWork backward_of(const RangePlace& place) const {
    const auto found = backward_.find({place.thread, place.place});
    return found == backward_.end() ? BackwardWork() : found->second;
  }

  void find_without() {
    for (const ReadSite& site : recording_.sites()) {
      const std::string_view name = recording_.text(site.category_name);
      without_.push_back(site.category_name >= 0 &&
                         std::find(options_.without.begin(), options_.without.end(), name) !=
                             options_.without.end());
    }
  }

  void find_sequences() {
    bool any = false;
    for (const ReadSite& site : recording_.sites()) {
      const std::string_view name = recording_.text(site.name);
      SequenceNumber sequence{sequence_of(name), false};
      sequence.is_backward = sequence.number && is_backward_name(name);
      any = any || sequence.is_backward;
      sequences_.push_back(sequence);
    }
    if (!any) return sequences_.clear();
    for (std::uint32_t thread = 0; thread < ranges_.threads(); ++thread) {
      const auto& ranges = ranges_.of_thread(thread);
      for (std::uint32_t place = 0; place < ranges.size(); ++place) {
        const SequenceNumber& sequence = sequences_[ranges[place].site];
        if (!sequence.number || sequence.is_backward) continue;
        forward_[{ranges_.process_of(thread), *sequence.number}].push_back({thread, place});
      }
    }
    for (auto& [number, places] : forward_) {
      std::sort(places.begin(), places.end(), [&](const RangePlace& a, const RangePlace& b) {
        return range(a.thread, a.place).start < range(b.thread, b.place).start;
      });
    }
  }

  // The range of the forward pass whose number a range of the backward pass has: the last one to
  // begin before it, as the numbers of forward ranges are those of the next node that is made.
  std::optional<RangePlace> forward_of(std::uint32_t thread, std::uint32_t place) const {
    if (sequences_.empty()) return std::nullopt;
    const CpuRange& backward = range(thread, place);
    const SequenceNumber& sequence = sequences_[backward.site];
    if (!sequence.number || !sequence.is_backward) return std::nullopt;
    const auto found = forward_.find({ranges_.process_of(thread), *sequence.number});
    if (found == forward_.end()) return std::nullopt;
    const auto after = std::upper_bound(found->second.begin(), found->second.end(), backward.start,
                                        [&](std::int64_t time, const RangePlace& one) {
                                          return time < range(one.thread, one.place).start;
                                        });
    if (after == found->second.begin()) return std::nullopt;
    return *(after - 1);
  }

  void add_backward(const LaunchedOp& op, RangePlace forward) {
    const std::int64_t at = range(forward.thread, forward.place).start;
    while (forward.place != CpuRanges::no_place) {
      of(forward);  // is there, to be shown
      BackwardWork& work = backward_[{forward.thread, forward.place}];
      work.covered.add(op.start, op.end);
      work.sum += op.end - op.start;
      ++work.ops;
      forward.place = ranges_.around(forward.thread, forward.place, at);
    }
  }

  void add_pair(const LaunchedOp& op, const RangePlace& place, bool is_launched) {
    if (!options_.with_pairs) return;
    Projection::Pair pair;
    pair.work = op.number;
    pair.duration = op.end - op.start;
    pair.work_site = op.site;
    if (is_launched && place.thread != CpuRanges::no_place) {
      pair.thread = lane_of(place.thread);
    }
    if (place.place != CpuRanges::no_place) {
      const CpuRange& of = range(place.thread, place.place);
      pair.range = of.row;
      pair.range_site = of.site;
      pair.kind = of.kind;
    }
    out_.pairs.push_back(pair);
  }
  std::int64_t lane_of(std::uint32_t thread) {
    if (lanes_.empty()) {
      lanes_.assign(ranges_.threads(), -1);
      const auto& threads = recording_.threads();
      for (std::size_t lane = threads.size(); lane-- > 0;) {
        lanes_[ranges_.thread_called(threads[lane].process, threads[lane].tid)] =
            static_cast<std::int64_t>(lane);
      }
    }
    return lanes_[thread];
  }

  // Levels, and the tightest range around each, of a thread.
  void nest(std::uint32_t thread) {
    const auto& ranges = ranges_.of_thread(thread);
    std::vector<Nested>& nested = nested_[thread];
    nested.resize(ranges.size());
    for (std::uint32_t place = 0; place < ranges.size(); ++place) {
      const std::uint32_t around = tightest(ranges, place);
      if (around == CpuRanges::no_place) continue;
      nested[place].parent = around;
      nested[place].level = nested[around].level + 1;
      if (work_[thread][place].ops != 0) ++nested[around].children;
    }
  }
  // Of those that hold it whole. Ranges that never end may lie around it, and so many are looked
  // at.
  static std::uint32_t tightest(const core::LargeVector<CpuRange>& ranges, std::uint32_t place) {
    const CpuRange& inner = ranges[place];
    std::uint32_t found = CpuRanges::no_place;
    std::size_t looked = 0;
    for (std::uint32_t at = inner.around; at != CpuRanges::no_place && looked < most_looked;
         at = ranges[at].around, ++looked) {
      const CpuRange& outer = ranges[at];
      if (outer.end < inner.end) continue;
      if (found == CpuRanges::no_place ||
          outer.end - outer.start < ranges[found].end - ranges[found].start) {
        found = at;
      }
    }
    return found;
  }

  static bool takes(const Selection& selection, const CpuRange& range) {
    return selection.takes_site(range.site) && selection.takes_thread(range.lane) &&
           selection.takes_time(range.start) && selection.takes_duration(range.end - range.start);
  }

  Nested nested_of(const RangePlace& at) const {
    const auto found = nested_.find(at.thread);
    return found == nested_.end() || at.place == CpuRanges::no_place ? Nested()
                                                                     : found->second[at.place];
  }
  std::int64_t row_of(const RangePlace& at) const {
    if (at.place == CpuRanges::no_place) return -1;
    return static_cast<std::int64_t>(range(at.thread, at.place).row);
  }
  // As a replay took no time of the range's thread, it begins and ends there with its launch.
  void show_replay(const Replays::Range& replay) {
    const CpuRange& of = range(replay.captured.thread, replay.captured.place);
    const bool is_inner = replay.outer != Replays::none;
    const bool is_launched = replay.launcher.place != CpuRanges::no_place;
    Nested nested;
    nested.level = replay.level + (is_launched ? nested_of(replay.launcher).level + 1 : 0);
    nested.children = replay.children;
    show(of, replay.launched, replay.launched, replay.work, nested,
         row_of(is_inner ? replays_.all()[replay.outer].captured : replay.launcher));
  }
  void show(const Shown& shown) {
    if (shown.replay != nullptr) return show_replay(*shown.replay);
    const RangePlace& at = shown.place;
    const CpuRange& of = range(at.thread, at.place);
    const Nested& nested = nested_[at.thread][at.place];
    show(of, of.start, of.end, work_[at.thread][at.place], nested,
         row_of({at.thread, nested.parent}));
    const BackwardWork backward = backward_of(at);
    out_.backward_ops.back() = backward.ops;
    out_.backward_sum.back() = backward.sum;
    out_.backward_busy.back() = backward.covered.total;
  }
  void show(const CpuRange& of, std::int64_t start, std::int64_t end, const RangeWork& work,
            const Nested& nested, std::int64_t parent) {
    out_.row.push_back(static_cast<std::int64_t>(of.row));
    out_.site.push_back(of.site);
    out_.thread.push_back(of.lane);
    out_.kind.push_back(static_cast<std::int64_t>(of.kind));
    out_.start.push_back(start);
    out_.end.push_back(end);
    out_.first.push_back(work.ops == 0 ? 0 : work.covered.first);
    out_.last.push_back(work.ops == 0 ? 0 : work.covered.last);
    out_.sum.push_back(work.sum);
    out_.busy.push_back(work.covered.total);
    out_.exclusive.push_back(work.exclusive);
    out_.ops.push_back(work.ops);
    out_.calls.push_back(work.calls);
    out_.level.push_back(nested.level);
    out_.parent.push_back(parent);
    out_.children.push_back(nested.children);
    out_.backward_ops.push_back(0);
    out_.backward_sum.push_back(0);
    out_.backward_busy.push_back(0);
  }

  static constexpr std::size_t most_looked = 4096;

  const Recording& recording_;
  const ProjectionOptions& options_;
  CpuRanges& ranges_;
  Projection& out_;
  std::vector<bool> without_;              // of each site
  std::vector<SequenceNumber> sequences_;  // of each site; empty: none is of a backward pass
  std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<RangePlace>> forward_;  // by start
  std::vector<core::LargeVector<RangeWork>> work_;  // of each thread; empty: it has none
  std::map<std::pair<std::uint32_t, std::uint32_t>, BackwardWork> backward_;  // of thread and place
  std::vector<MetNumbers> calls_;                                             // of each process
  std::map<std::uint32_t, std::vector<Nested>> nested_;
  std::vector<std::int64_t> lanes_;
  std::unordered_set<std::uint64_t> taken_rows_;
  Replays replays_;
};

struct ProjectedSites {
  std::vector<std::uint8_t> work;
  std::vector<bool> around;
  bool of_device_ranges = false;
};

ProjectedSites sites_of(const Recording& recording, const ProjectionOptions& options) {
  const auto& sites = recording.sites();
  const std::int64_t work = recording.domain_called(options.work_domain);
  const std::int64_t calls = recording.domain_called(options.call_domain);
  ProjectedSites found;
  found.work.resize(sites.size());
  found.around.resize(sites.size());
  const auto is_seen = [&](const ReadSite& site) {
    return site.device != 0 && site.domain == work;
  };
  const bool any = std::any_of(sites.begin(), sites.end(), is_seen);
  found.of_device_ranges = !any;
  for (std::size_t i = 0; i < sites.size(); ++i) {
    const bool is_work = sites[i].device != 0 && (!any || is_seen(sites[i]));
    const bool is_own = !options.as_nsys && is_own_kernel(recording.text(sites[i].name));
    found.work[i] = is_work && !is_own ? 1 : 0;
    const bool may_launch = sites[i].device == 0 || (options.as_nsys && any && !is_work);
    found.around[i] = may_launch && sites[i].domain != calls;
  }
  return found;
}

}  // namespace

Projection project(const Recording& recording, const Selection& selection,
                   const ProjectionOptions& options) {
  const ProjectedSites sites = sites_of(recording, options);
  CpuRanges ranges(recording, sites.around, options.unclosed_end);
  for (const bool keeps_all : {false, true}) {
    Projection projection;
    projection.of_device_ranges = sites.of_device_ranges;
    Projector projector(recording, options, ranges, projection);
    const bool is_done = scan_work(recording, sites.work, ranges, keeps_all, projector);
    if (!is_done && !keeps_all) continue;
    projector.finish(selection);
    return projection;
  }
  return {};
}

}  // namespace nvspan::reader
