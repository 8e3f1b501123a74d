// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/waits.hpp"

#include <algorithm>
#include <limits>
#include <map>
#include <utility>

namespace nvspan::reader {
namespace {

struct Window {
  std::int64_t begin, end;
};

// What runs one thing after the other: a thread, or a request where these take turns on threads.
using Lane = std::uint32_t;

constexpr std::uint32_t no_group = 0xFFFFFFFF;

// For how long intervals are open until a time, as a sum over all of them.
class OpenTime {
 public:
  void add(std::int64_t begin, std::int64_t end) {
    changes_.push_back({begin, 1});
    changes_.push_back({end, -1});
  }
  void finish() {
    std::sort(changes_.begin(), changes_.end());
    std::int64_t sum = 0, open = 0, latest = 0;
    for (const auto& [time, change] : changes_) {
      sum += open * (time - latest);
      latest = time;
      open += change;
      times_.push_back(time);
      sums_.push_back(sum);
      open_.push_back(open);
    }
    changes_ = {};
  }
  std::int64_t within(std::int64_t start, std::int64_t end) const {
    return until(end) - until(start);
  }

 private:
  std::int64_t until(std::int64_t time) const {
    const auto next = std::upper_bound(times_.begin(), times_.end(), time);
    if (next == times_.begin()) return 0;
    const auto place = static_cast<std::size_t>(next - times_.begin()) - 1;
    return sums_[place] + open_[place] * (time - times_[place]);
  }

  std::vector<std::pair<std::int64_t, std::int64_t>> changes_;
  std::vector<std::int64_t> times_, sums_, open_;
};

// The waits of one group: how much of an interval of another lane lies within them.
class Waiting {
 public:
  struct Wait {
    std::int64_t begin, end;
    Lane lane;
  };
  explicit Waiting(std::vector<Wait> waits) : waits_(std::move(waits)) {
    for (const Wait& wait : waits_) {
      all_.add(wait.begin, wait.end);
      lanes_[wait.lane].add(wait.begin, wait.end);
      total_ += wait.end - wait.begin;
      begin_ = std::min(begin_, wait.begin);
      end_ = std::max(end_, wait.end);
    }
    all_.finish();
    for (auto& [lane, open] : lanes_) open.finish();
  }
  const std::vector<Wait>& waits() const { return waits_; }
  std::int64_t begin() const { return begin_; }
  std::int64_t end() const { return end_; }
  std::int64_t total() const { return total_; }
  // Whether another lane than this one has some.
  bool has_others(Lane lane) const { return lanes_.size() > lanes_.count(lane); }
  std::int64_t within(std::int64_t start, std::int64_t end, Lane lane) const {
    const auto own = lanes_.find(lane);
    return all_.within(start, end) - (own == lanes_.end() ? 0 : own->second.within(start, end));
  }

 private:
  std::vector<Wait> waits_;
  OpenTime all_;
  std::map<Lane, OpenTime> lanes_;
  std::int64_t begin_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t end_ = std::numeric_limits<std::int64_t>::min();
  std::int64_t total_ = 0;
};

struct End {
  std::int64_t at;
  Lane lane;
  bool operator<(const End& other) const { return at < other.at; }
};

// How many of the waits end as a range of another lane ends, beyond chance.
double share_released(const Waiting& waiting, std::vector<End>& ends) {
  std::sort(ends.begin(), ends.end());
  const auto count = static_cast<double>(waiting.waits().size());
  double near = 0, tolerances = 0;
  for (const Waiting::Wait& wait : waiting.waits()) {
    const double tolerance = std::max(20'000.0, 0.05 * static_cast<double>(wait.end - wait.begin));
    tolerances += tolerance;
    const auto from = std::lower_bound(ends.begin(), ends.end(),
                                       End{wait.end - static_cast<std::int64_t>(tolerance), 0});
    const auto to = std::upper_bound(from, ends.end(),
                                     End{wait.end + static_cast<std::int64_t>(0.2 * tolerance), 0});
    near += std::any_of(from, to, [&](const End& end) { return end.lane != wait.lane; }) ? 1 : 0;
  }
  const double extent = std::max(1.0, static_cast<double>(waiting.end() - waiting.begin()));
  const double chance =
      std::min(1.0, static_cast<double>(ends.size()) * 1.2 * (tolerances / count) / extent);
  return near / count - chance;
}

// The lane of each row, and the lanes of requests: these have always something to do, which says
// nothing of what one of them waits for unless waits end with it.
class Lanes {
 public:
  // Threads.
  explicit Lanes(const LoopRanges& ranges) : ranges_(ranges) {}
  Lanes(const LoopRanges& ranges, const LoopSteps& requests, const Owners& owners)
      : ranges_(ranges), has_requests_(ranges.of_threads.size()) {
    if (requests.is_floating) {
      owners_ = &owners;
      group_ = ranges.group[requests.rows.front()];
    }
    for (const std::int64_t thread : requests.thread) {
      has_requests_[static_cast<std::size_t>(thread)] = 1;
    }
  }
  Lane lane_of(RangeRow row, std::uint32_t thread) const {
    const bool is_owned = owners_ != nullptr && owners_->step[row] != Owners::none;
    return is_owned ? static_cast<Lane>(ranges_.of_threads.size()) + owners_->step[row] : thread;
  }
  // Of requests that take turns, what they do counts, and not that they are open.
  bool is_left_out(RangeRow row) const { return ranges_.group[row] == group_; }
  bool is_request(Lane lane) const {
    return lane >= ranges_.of_threads.size() ||
           (!has_requests_.empty() && has_requests_[lane] != 0);
  }

 private:
  const LoopRanges& ranges_;
  const Owners* owners_ = nullptr;
  std::uint32_t group_ = no_group;
  std::vector<std::uint8_t> has_requests_;
};

class Meanwhile {
 public:
  Meanwhile(const LoopRanges& ranges, const Waiting& waiting, const Lanes& lanes)
      : ranges_(ranges), waiting_(waiting), lanes_(lanes) {
    for (std::uint32_t thread = 0; thread < ranges.of_threads.size(); ++thread) add_thread(thread);
  }

  void tell(LoopWait& wait) const {
    wait.has_others = has_others_;
    std::map<std::int64_t, std::vector<LoopMeanwhile>> threads;
    for (const auto& [key, time] : largest()) {
      if (static_cast<double>(time) < 0.05 * static_cast<double>(waiting_.total())) continue;
      // Start/end ranges may overlap each other, and so do other requests.
      const double share =
          std::min(1.0, static_cast<double>(time) / static_cast<double>(waiting_.total()));
      const bool ends_it = ends_wait(key);
      if (!ends_it && key.first == LoopWait::of_requests) continue;
      threads[key.first].push_back({key.second, share, ends_it});
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
      if (wait.thread != LoopWait::of_none && rank <= best) continue;
      best = rank;
      wait.thread = thread;
    }
    if (most < least_meanwhile) wait.thread = LoopWait::of_none;
    if (wait.thread != LoopWait::of_none) wait.meanwhile = threads[wait.thread];
  }

 private:
  using Key = std::pair<std::int64_t, std::uint32_t>;  // a thread, or requests, and a group
  using Sum = std::pair<Key, std::int64_t>;

  std::int64_t place_of(Lane lane) const {
    return lanes_.is_request(lane) ? LoopWait::of_requests : std::int64_t{lane};
  }

  // The time of each group in which a range of it was the innermost, within the waits.
  void add_thread(std::uint32_t thread) {
    const LoopRanges::Rows rows = ranges_.rows_of(thread);
    std::vector<std::int64_t> own(rows.end - rows.begin);
    for (RangeRow row = rows.begin; row < rows.end; ++row) {
      const Lane lane = lanes_.lane_of(row, thread);
      if (!counts(row, lane)) continue;
      has_others_ = has_others_ || !lanes_.is_request(lane);
      const std::int64_t overlap = waiting_.within(ranges_.start[row], ranges_.end[row], lane);
      own[row - rows.begin] += overlap;
      const RangeRow parent = ranges_.parent[row];
      if (parent != no_range) own[parent - rows.begin] -= overlap;
    }
    for (RangeRow row = rows.begin; row < rows.end; ++row) {
      const Lane lane = lanes_.lane_of(row, thread);
      if (!counts(row, lane) || ranges_.has(row, trait_wait)) continue;
      sums_[{place_of(lane), ranges_.group[row]}] +=
          std::max<std::int64_t>(0, own[row - rows.begin]);
    }
  }
  bool counts(RangeRow row, Lane lane) const {
    return ranges_.end[row] > waiting_.begin() && ranges_.start[row] < waiting_.end() &&
           !ranges_.is_backward(row) && !lanes_.is_left_out(row) && waiting_.has_others(lane);
  }
  std::vector<Sum> largest() const {
    std::vector<Sum> sorted(sums_.begin(), sums_.end());
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Sum& a, const Sum& b) { return a.second > b.second; });
    sorted.resize(std::min<std::size_t>(sorted.size(), 16));
    return sorted;
  }
  bool ends_wait(const Key& key) const {
    std::vector<End> ends;
    for (std::uint32_t thread = 0; thread < ranges_.of_threads.size(); ++thread) {
      if (key.first != LoopWait::of_requests && key.first != thread) continue;
      const LoopRanges::Rows rows = ranges_.rows_of(thread);
      for (RangeRow row = rows.begin; row < rows.end; ++row) {
        if (ranges_.group[row] != key.second) continue;
        const Lane lane = lanes_.lane_of(row, thread);
        if (counts(row, lane) && place_of(lane) == key.first) {
          ends.push_back({ranges_.end[row], lane});
        }
      }
    }
    return share_released(waiting_, ends) > 0.5;
  }

  const LoopRanges& ranges_;
  const Waiting& waiting_;
  const Lanes& lanes_;
  bool has_others_ = false;
  std::map<Key, std::int64_t> sums_;
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

using GroupWaits = std::map<std::uint32_t, std::vector<Waiting::Wait>>;

// Whether it is one, and not within another.
bool is_wait(const LoopRanges& ranges, RangeRow row) {
  const RangeRow parent = ranges.parent[row];
  return ranges.has(row, trait_wait) && (parent == no_range || !ranges.has(parent, trait_wait));
}

// Those that take long enough of a time.
std::vector<LoopWait> told(const LoopRanges& ranges, const GroupWaits& waits, std::int64_t time,
                           const Lanes& lanes) {
  const auto whole = static_cast<double>(std::max<std::int64_t>(1, time));
  std::vector<LoopWait> found;
  for (const auto& [group, of_group] : waits) {
    const Waiting waiting(of_group);
    LoopWait wait;
    wait.group = group;
    wait.calls = of_group.size();
    wait.total = waiting.total();
    wait.share = static_cast<double>(wait.total) / whole;
    if (wait.share < least_wait || wait.total == 0) continue;
    Meanwhile(ranges, waiting, lanes).tell(wait);
    for (const Waiting::Wait& one : waiting.waits()) {
      wait.starts.push_back(one.begin);
      wait.ends.push_back(one.end);
    }
    found.push_back(std::move(wait));
  }
  return found;
}

}  // namespace

std::vector<LoopWait> find_waits(const LoopRanges& ranges, const LoopSteps& steps,
                                 std::uint32_t thread) {
  if (!ranges.has_any(trait_wait)) return {};
  const Window window = window_of(ranges, steps, thread);
  const LoopRanges::Rows rows = ranges.rows_of(thread);
  GroupWaits waits;
  for (RangeRow row = rows.begin; row < rows.end; ++row) {
    if (!is_wait(ranges, row) || ranges.is_floating(row)) continue;
    if (ranges.start[row] < window.begin || ranges.end[row] > window.end) continue;
    waits[ranges.group[row]].push_back({ranges.start[row], ranges.end[row], thread});
  }
  std::vector<LoopWait> found = told(ranges, waits, window.end - window.begin, Lanes(ranges));
  for (LoopWait& wait : found) wait.waiter = thread;
  return found;
}

LoopWait find_pauses(const LoopRanges& ranges, const LoopSteps& steps, std::uint32_t thread) {
  LoopWait wait;
  bool has_others = false;
  for (std::uint32_t other = 0; other < ranges.of_threads.size(); ++other) {
    const LoopRanges::Rows rows = ranges.rows_of(other);
    has_others = has_others || (other != thread && rows.begin != rows.end);
  }
  if (!has_others) return wait;
  std::vector<Waiting::Wait> pauses;
  bool is_first = true;
  std::int64_t first = 0, end = 0, total = 0;
  for (std::size_t i = 0; i < steps.size(); ++i) {
    if (steps.thread[i] != thread) continue;
    if (is_first) first = end = steps.start[i];
    is_first = false;
    if (steps.start[i] > end) pauses.push_back({end, steps.start[i], thread});
    total += std::max<std::int64_t>(0, steps.start[i] - end);
    end = std::max(end, steps.end[i]);
  }
  const double least = least_wait * static_cast<double>(end - first);
  if (pauses.empty() || static_cast<double>(total) < least) return wait;
  const Waiting waiting(std::move(pauses));
  wait.calls = waiting.waits().size();
  wait.total = total;
  Meanwhile(ranges, waiting, Lanes(ranges)).tell(wait);
  return wait;
}

std::vector<LoopWait> find_waits_of(const LoopRanges& ranges, const LoopSteps& requests,
                                    const Owners& owners, const std::vector<std::uint32_t>& which) {
  if (!ranges.has_any(trait_wait)) return {};
  std::vector<std::uint8_t> counts(requests.size());
  std::int64_t whole = 0;
  for (const std::uint32_t request : which) {
    counts[request] = 1;
    whole += requests.end[request] - requests.start[request];
  }
  const Lanes lanes(ranges, requests, owners);
  GroupWaits waits;
  for (std::uint32_t thread = 0; thread < ranges.of_threads.size(); ++thread) {
    const LoopRanges::Rows rows = ranges.rows_of(thread);
    for (RangeRow row = rows.begin; row < rows.end; ++row) {
      const std::uint32_t owner = owners.step[row];
      if (owner == Owners::none || counts[owner] == 0 || !is_wait(ranges, row)) continue;
      waits[ranges.group[row]].push_back(
          {ranges.start[row], ranges.end[row], lanes.lane_of(row, thread)});
    }
  }
  return told(ranges, waits, whole, lanes);
}

}  // namespace nvspan::reader
