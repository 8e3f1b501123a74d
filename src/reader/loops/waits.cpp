// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/waits.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace nvspan::reader {
namespace {

struct Window {
  std::int64_t begin, end;
};

// The waits of one group: how much of an interval lies within them.
class Waiting {
 public:
  Waiting(const LoopRanges& ranges, const RangeRows& rows) {
    std::int64_t sum = 0;
    for (const RangeRow row : rows) {
      begins_.push_back(ranges.start[row]);
      ends_.push_back(ranges.end[row]);
      before_.push_back(sum);
      sum += ranges.duration(row);
    }
    before_.push_back(sum);
  }
  std::size_t size() const { return begins_.size(); }
  std::int64_t begin() const { return begins_.front(); }
  std::int64_t end() const { return ends_.back(); }
  std::int64_t total() const { return before_.back(); }
  std::int64_t begin_of(std::size_t wait) const { return begins_[wait]; }
  std::int64_t end_of(std::size_t wait) const { return ends_[wait]; }
  std::int64_t within(std::int64_t start, std::int64_t end) const {
    return until(end) - until(start);
  }

 private:
  std::int64_t until(std::int64_t time) const {
    const auto next = std::upper_bound(begins_.begin(), begins_.end(), time);
    const auto place = static_cast<std::size_t>(next - begins_.begin());
    if (place == 0) return 0;
    return before_[place - 1] + std::min(time, ends_[place - 1]) - begins_[place - 1];
  }

  std::vector<std::int64_t> begins_, ends_, before_;
};

// How many of the waits end as a range ends, beyond chance.
double share_released(const Waiting& waiting, std::vector<std::int64_t>& ends) {
  std::sort(ends.begin(), ends.end());
  const auto count = static_cast<double>(waiting.size());
  double near = 0, tolerances = 0;
  for (std::size_t i = 0; i < waiting.size(); ++i) {
    const std::int64_t at = waiting.end_of(i);
    const double tolerance =
        std::max(20'000.0, 0.05 * static_cast<double>(at - waiting.begin_of(i)));
    tolerances += tolerance;
    const auto from =
        std::lower_bound(ends.begin(), ends.end(), at - static_cast<std::int64_t>(tolerance));
    const auto to =
        std::upper_bound(from, ends.end(), at + static_cast<std::int64_t>(0.2 * tolerance));
    near += to != from ? 1 : 0;
  }
  const double extent = std::max(1.0, static_cast<double>(waiting.end() - waiting.begin()));
  const double chance =
      std::min(1.0, static_cast<double>(ends.size()) * 1.2 * (tolerances / count) / extent);
  return near / count - chance;
}

class Meanwhile {
 public:
  Meanwhile(const LoopRanges& ranges, const Waiting& waiting, std::uint32_t thread)
      : ranges_(ranges), waiting_(waiting) {
    for (std::uint32_t other = 0; other < ranges.of_threads.size(); ++other) {
      if (other != thread) add_thread(other);
    }
  }

  void tell(LoopWait& wait) const {
    wait.has_others = has_others_;
    std::map<std::uint32_t, std::vector<LoopMeanwhile>> threads;
    for (const Sum& sum : largest()) {
      if (static_cast<double>(sum.time) < 0.05 * static_cast<double>(waiting_.total())) continue;
      // Start/end ranges may overlap each other.
      const double share =
          std::min(1.0, static_cast<double>(sum.time) / static_cast<double>(waiting_.total()));
      threads[sum.thread].push_back({sum.group, share, ends_wait(sum)});
    }
    std::pair<bool, double> best{false, 0};
    double most = 0;
    for (const auto& [thread, parts] : threads) {
      double share = 0;
      bool ends_it = false;
      for (const LoopMeanwhile& part : parts) {
        share += part.share;
        ends_it = ends_it || part.ends_it;
      }
      const std::pair<bool, double> rank{ends_it, std::min(1.0, share)};
      most = std::max(most, rank.second);
      if (wait.thread >= 0 && rank <= best) continue;
      best = rank;
      wait.thread = thread;
    }
    if (most < least_meanwhile) wait.thread = -1;
    if (wait.thread >= 0) wait.meanwhile = threads[static_cast<std::uint32_t>(wait.thread)];
  }

 private:
  struct Sum {
    std::uint32_t thread, group;
    std::int64_t time;
  };

  // The time of each group in which a range of it was the innermost, within the waits.
  void add_thread(std::uint32_t thread) {
    const LoopRanges::Rows rows = ranges_.rows_of(thread);
    std::vector<std::int64_t> own(rows.end - rows.begin);
    for (RangeRow row = rows.begin; row < rows.end; ++row) {
      if (!counts(row)) continue;
      has_others_ = true;
      const std::int64_t overlap = waiting_.within(ranges_.start[row], ranges_.end[row]);
      own[row - rows.begin] += overlap;
      const RangeRow parent = ranges_.parent[row];
      if (parent != no_range) own[parent - rows.begin] -= overlap;
    }
    std::map<std::uint32_t, std::int64_t> groups;
    for (RangeRow row = rows.begin; row < rows.end; ++row) {
      if (!counts(row) || ranges_.has(row, trait_wait)) continue;
      groups[ranges_.group[row]] += std::max<std::int64_t>(0, own[row - rows.begin]);
    }
    for (const auto& [group, time] : groups) sums_.push_back({thread, group, time});
  }
  bool counts(RangeRow row) const {
    return ranges_.end[row] > waiting_.begin() && ranges_.start[row] < waiting_.end() &&
           !ranges_.is_backward(row);
  }
  std::vector<Sum> largest() const {
    std::vector<Sum> sorted = sums_;
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Sum& a, const Sum& b) { return a.time > b.time; });
    sorted.resize(std::min<std::size_t>(sorted.size(), 16));
    return sorted;
  }
  bool ends_wait(const Sum& sum) const {
    const LoopRanges::Rows rows = ranges_.rows_of(sum.thread);
    std::vector<std::int64_t> ends;
    for (RangeRow row = rows.begin; row < rows.end; ++row) {
      if (ranges_.group[row] == sum.group && counts(row)) ends.push_back(ranges_.end[row]);
    }
    return share_released(waiting_, ends) > 0.5;
  }

  const LoopRanges& ranges_;
  const Waiting& waiting_;
  bool has_others_ = false;
  std::vector<Sum> sums_;
};

// While steps run; without steps, from the thread's first range to the end of its last.
Window window_of(const LoopRanges& ranges, const LoopSteps& steps, std::uint32_t thread) {
  if (steps.kind != LoopSteps::Kind::whole) {
    return {steps.start.front(), *std::max_element(steps.end.begin(), steps.end.end())};
  }
  const LoopRanges::Rows rows = ranges.rows_of(thread);
  if (rows.begin == rows.end) return {0, 0};
  return {ranges.start[rows.begin], rows.last};
}

}  // namespace

std::vector<LoopWait> find_waits(const LoopRanges& ranges, const LoopSteps& steps,
                                 std::uint32_t thread) {
  if (!ranges.has_any(trait_wait)) return {};
  const Window window = window_of(ranges, steps, thread);
  const LoopRanges::Rows rows = ranges.rows_of(thread);
  std::map<std::uint32_t, RangeRows> waits;
  for (RangeRow row = rows.begin; row < rows.end; ++row) {
    if (!ranges.has(row, trait_wait) || ranges.is_floating(row)) continue;
    if (ranges.start[row] < window.begin || ranges.end[row] > window.end) continue;
    const RangeRow parent = ranges.parent[row];
    if (parent == no_range || !ranges.has(parent, trait_wait)) {
      waits[ranges.group[row]].push_back(row);
    }
  }
  const auto whole = static_cast<double>(std::max<std::int64_t>(1, window.end - window.begin));
  std::vector<LoopWait> found;
  for (const auto& [group, of_group] : waits) {
    const Waiting waiting(ranges, of_group);
    LoopWait wait;
    wait.group = group;
    wait.calls = of_group.size();
    wait.total = waiting.total();
    wait.share = static_cast<double>(wait.total) / whole;
    if (wait.share < least_wait || wait.total == 0) continue;
    Meanwhile(ranges, waiting, thread).tell(wait);
    found.push_back(std::move(wait));
  }
  return found;
}

}  // namespace nvspan::reader
