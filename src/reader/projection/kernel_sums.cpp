// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/projection/kernel_sums.hpp"

#include "core/log_histogram.hpp"
#include "reader/projection/cpu_ranges.hpp"
#include "reader/projection/module_sites.hpp"
#include "reader/projection/work_scan.hpp"
#include "reader/scan/work_sites.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <memory>
#include <string_view>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

namespace nvspan::reader {
namespace {

constexpr std::size_t most_time_distributions = 16384;  // rows that keep one
constexpr std::size_t most_shapes = 1024;               // of a row that are told apart
constexpr std::uint32_t no_work_group = 0;
constexpr std::uint32_t unknown_group = std::numeric_limits<std::uint32_t>::max();

struct TimeSums {
  std::uint64_t count = 0;
  std::int64_t total = 0;
  std::int64_t shortest = std::numeric_limits<std::int64_t>::max(), longest = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::unique_ptr<core::LogHistogram> durations;
  // The sites of one name, and their time; the last one first.
  std::vector<std::pair<std::uint32_t, std::int64_t>> sites;

  void add(std::int64_t duration, std::int64_t at, std::uint32_t site) {
    if (sites.empty() || sites.front().first != site) bring_first(site);
    if (sites.front().first == site) sites.front().second += duration;
    ++count;
    first = std::min(first, at);
    total += duration;
    shortest = std::min(shortest, duration);
    longest = std::max(longest, duration);
    if (durations != nullptr) durations->add(static_cast<std::uint64_t>(duration));
  }
  // The one with the most time.
  std::uint32_t site() const {
    return std::max_element(sites.begin(), sites.end(),
                            [](const auto& a, const auto& b) {
                              return std::make_pair(a.second, b.first) <
                                     std::make_pair(b.second, a.first);
                            })
        ->first;
  }

 private:
  void bring_first(std::uint32_t site) {
    const auto found = std::find_if(sites.begin(), sites.end(),
                                    [&](const auto& one) { return one.first == site; });
    if (found != sites.end()) return std::swap(sites.front(), *found);
    if (sites.size() >= most_shapes) return;
    sites.emplace_back(site, 0);
    std::swap(sites.front(), sites.back());
  }
};

constexpr std::uint64_t group_pair(std::uint32_t kernel, std::uint32_t group) {
  return std::uint64_t{kernel} << 32 | group;
}
constexpr std::uint32_t kernel_of_pair(std::uint64_t pair) {
  return static_cast<std::uint32_t>(pair >> 32);
}

// What work is of, besides its name.
struct WorkGroup {
  std::int64_t range = -1;  // a site
  std::int32_t module = no_name;
  bool backward = false;
};

class KernelSummer : public OpTaker {
 public:
  KernelSummer(const Recording& recording, const Selection& selection, const KernelOptions& options,
               const std::vector<std::uint8_t>& is_work, CpuRanges& ranges,
               const ModuleSites& modules)
      : recording_(recording),
        selection_(selection),
        options_(options),
        ranges_(ranges),
        modules_(modules),
        group_of_site_(recording.sites().size(), unknown_group) {
    find_kernels(is_work);
    groups_.emplace_back();
  }

  void take(const LaunchedOp& op) override {
    const std::int64_t duration = op.end - op.start;
    if (!selection_.takes_site(op.site) || !selection_.takes_time(op.start) ||
        !selection_.takes_duration(duration)) {
      return;
    }
    std::uint32_t range = CpuRanges::no_place;
    if (op.thread != CpuRanges::no_place) range = ranges_.at(op.thread, op.launched);
    const std::uint32_t captured = captured_in(ranges_, op);
    if (!options_.within.empty() && !is_within(op, range, captured)) return;
    ++out_.count;
    out_.total += duration;
    busy_[{op.process, op.device}].add(op.start, op.end);
    if (!op.is_launched) {
      ++out_.unlaunched;
    } else if (range == CpuRanges::no_place && captured == CpuRanges::no_place) {
      ++out_.outside;
    }
    const std::uint32_t kernel = kernel_of_site_[op.site];
    const std::uint32_t group = group_of(op, range, captured);
    const bool by_name = options_.by == KernelGroups::name;
    sums_of(group_pair(kernel, by_name ? no_work_group : group))
        .add(duration, op.is_launched ? op.launched : op.start, op.site);
    if (by_name) times_[group_pair(kernel, group)] += duration;
  }

  KernelWork finish() {
    out_.devices = busy_.size();
    if (out_.count != 0) {
      out_.first = std::numeric_limits<std::int64_t>::max();
      out_.last = std::numeric_limits<std::int64_t>::min();
    }
    for (const auto& [device, busy] : busy_) {
      out_.busy += busy.total;
      out_.first = std::min(out_.first, busy.first);
      out_.last = std::max(out_.last, busy.last);
    }
    const std::map<std::uint32_t, Largest> largest = largest_groups();
    for (auto& [pair, sums] : sums_) {
      KernelTimes row;
      row.kernel = sums.site();
      row.shapes = static_cast<std::uint32_t>(sums.sites.size());
      auto group = static_cast<std::uint32_t>(pair);
      if (const auto found = largest.find(kernel_of_pair(pair)); found != largest.end()) {
        group = found->second.group;
        row.ranges = found->second.ranges;
      }
      row.range = groups_[group].range;
      row.module = groups_[group].module;
      row.backward = groups_[group].backward;
      row.count = sums.count;
      row.total = sums.total;
      row.shortest = sums.shortest;
      row.longest = sums.longest;
      row.first = sums.first;
      if (sums.durations != nullptr) row.median = sums.durations->percentile(0.5, sums.count);
      out_.rows.push_back(row);
    }
    const auto order = [](const KernelTimes& row) {
      return std::make_tuple(-row.total, row.kernel, row.range, row.module, row.backward);
    };
    std::sort(out_.rows.begin(), out_.rows.end(),
              [&](const KernelTimes& a, const KernelTimes& b) { return order(a) < order(b); });
    return std::move(out_);
  }

 private:
  struct Largest {
    std::uint32_t group = no_work_group;
    std::uint32_t ranges = 0;
    std::int64_t time = -1;
  };

  void find_kernels(const std::vector<std::uint8_t>& is_work) {
    std::map<std::pair<std::int32_t, std::string_view>, std::uint32_t> numbers;
    kernel_of_site_.resize(is_work.size());
    for (std::uint32_t i = 0; i < is_work.size(); ++i) {
      if (is_work[i] == 0) continue;
      const auto number = static_cast<std::uint32_t>(numbers.size());
      kernel_of_site_[i] =
          numbers.try_emplace({recording_.sites()[i].name, work_kind_of(recording_, i)}, number)
              .first->second;
    }
  }
  // Neighbours often share it.
  TimeSums& sums_of(std::uint64_t pair) {
    if (last_ == nullptr || pair != last_pair_) {
      const auto [found, is_new] = sums_.try_emplace(pair);
      if (is_new && sums_.size() <= most_time_distributions) {
        found->second.durations = std::make_unique<core::LogHistogram>();
      }
      last_pair_ = pair;
      last_ = &found->second;
    }
    return *last_;
  }
  const CpuRange& range_at(std::uint32_t thread, std::uint32_t place) const {
    return ranges_.of_thread(thread)[place];
  }
  bool is_within(const LaunchedOp& op, std::uint32_t range, std::uint32_t captured) const {
    while (captured != CpuRanges::no_place) {
      if (options_.within[range_at(op.capturer, captured).site]) return true;
      captured = captured_around(ranges_, op, captured);
    }
    while (range != CpuRanges::no_place && !options_.within[range_at(op.thread, range).site]) {
      range = ranges_.around(op.thread, range, op.launched);
    }
    return range != CpuRanges::no_place;
  }

  ModuleSites::Pass pass_of(const LaunchedOp& op, std::uint32_t range,
                            std::uint32_t captured) const {
    ModuleSites::Pass pass;
    if (captured != CpuRanges::no_place) {
      pass = modules_.pass_of(ranges_, op.capturer, captured, op.captured);
    }
    if (pass.module >= 0 || range == CpuRanges::no_place) return pass;
    return modules_.pass_of(ranges_, op.thread, range, op.launched);
  }
  // What a graph captured is of the range that it was captured in, which lies in the one of the
  // replay.
  std::uint32_t group_of(const LaunchedOp& op, std::uint32_t range, std::uint32_t captured) {
    const bool is_captured = captured != CpuRanges::no_place;
    if (!is_captured && range == CpuRanges::no_place) return no_work_group;
    if (options_.by == KernelGroups::module) {
      const ModuleSites::Pass pass = pass_of(op, range, captured);
      if (pass.module < 0) return no_work_group;
      return number_of({pass.module, pass.backward}, WorkGroup{-1, pass.module, pass.backward});
    }
    const std::uint32_t number =
        (is_captured ? range_at(op.capturer, captured) : range_at(op.thread, range)).site;
    std::uint32_t& group = group_of_site_[number];
    if (group == unknown_group) {
      const ReadSite& site = recording_.sites()[number];
      group = number_of({static_cast<std::int64_t>(name_key(site)), site.backward},
                        WorkGroup{number, no_name, site.backward});
    }
    return group;
  }
  std::uint32_t number_of(const std::pair<std::int64_t, bool>& key, const WorkGroup& group) {
    const auto number = static_cast<std::uint32_t>(groups_.size());
    const auto [found, is_new] = group_numbers_.try_emplace(key, number);
    if (is_new) groups_.push_back(group);
    return found->second;
  }

  // By name: of each kernel the range with the most of its time, and how many there are.
  std::map<std::uint32_t, Largest> largest_groups() const {
    std::map<std::uint32_t, Largest> found;
    for (const auto& [pair, time] : times_) {
      const auto group = static_cast<std::uint32_t>(pair);
      Largest& largest = found[kernel_of_pair(pair)];
      if (group != no_work_group) ++largest.ranges;
      const bool is_earlier = groups_[group].range < groups_[largest.group].range;
      if (time < largest.time || (time == largest.time && !is_earlier)) continue;
      largest.time = time;
      largest.group = group;
    }
    return found;
  }

  const Recording& recording_;
  const Selection& selection_;
  const KernelOptions& options_;
  CpuRanges& ranges_;
  const ModuleSites& modules_;
  std::vector<std::uint32_t> kernel_of_site_;
  std::vector<std::uint32_t> group_of_site_;
  std::map<std::pair<std::int64_t, bool>, std::uint32_t> group_numbers_;
  std::vector<WorkGroup> groups_;  // the first: of no range or module
  std::map<std::pair<std::uint32_t, std::int32_t>, CoveredTime> busy_;  // of process and device
  std::unordered_map<std::uint64_t, TimeSums> sums_;                    // references stay valid
  std::uint64_t last_pair_ = 0;
  TimeSums* last_ = nullptr;
  std::unordered_map<std::uint64_t, std::int64_t> times_;
  KernelWork out_;
};

}  // namespace

KernelWork sum_kernel_times(const Recording& recording, const Selection& selection,
                            const KernelOptions& options) {
  std::vector<std::uint8_t> is_work, is_call;
  for (const std::string& name : options.work_domains) mark_sites(recording, name, is_work);
  is_work.resize(recording.sites().size());
  mark_sites(recording, options.call_domain, is_call);
  std::vector<bool> around(is_work.size());
  for (std::size_t i = 0; i < around.size(); ++i) {
    around[i] = is_work[i] == 0 && is_call[i] == 0 && recording.sites()[i].device == 0;
  }
  CpuRanges ranges(recording, around);
  ModuleSites modules(recording, options.forward);
  if (options.by == KernelGroups::module) modules.find_numbers(ranges);
  KernelWork work;
  for (const bool keeps_all : {false, true}) {
    KernelSummer summer(recording, selection, options, is_work, ranges, modules);
    const bool is_done = scan_work(recording, is_work, ranges, keeps_all, summer);
    if (!is_done && !keeps_all) continue;
    work = summer.finish();
    break;
  }
  work.has_work = std::find(is_work.begin(), is_work.end(), 1) != is_work.end();
  return work;
}

}  // namespace nvspan::reader
