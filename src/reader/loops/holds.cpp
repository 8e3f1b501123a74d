// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/holds.hpp"

#include "core/statistics/order.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <set>
#include <utility>

namespace nvspan::reader {
namespace {

// Most of what a group takes must be free of other events: a coroutine that waits may be so, too.
constexpr double least_alone = 0.9;
// And after most of it others go on that were waiting, beyond chance.
constexpr double least_released = 0.5;
// Events that would be within ranges, if these let others run: e^-10 of it is chance.
constexpr double least_expected = 10;
constexpr double least_waiting = 0.02;       // of the requests' time
constexpr std::int64_t least_hold = 50'000;  // what is shorter holds nobody up
constexpr int most_ends = 64;                // that are looked at after a range

constexpr std::int64_t never = std::numeric_limits<std::int64_t>::min();

using Times = std::vector<std::int64_t>;

struct Candidate {
  RangeRow row;
  std::uint32_t owner;  // a request, or none
  std::int64_t others;  // requests that are open meanwhile, 0 or less: none
  double released;      // whether one goes on right after it, beyond chance
};

// A thread's ranges that overlap others, by their ends.
struct FloatingEnd {
  std::int64_t at, start;
  std::uint32_t owner;
  bool waits;  // for a lock, say: its end tells who held that
  bool operator<(const FloatingEnd& other) const { return at < other.at; }
};

// The ranges of a thread in which nothing else of it begins or ends.
class LonelyRanges {
 public:
  LonelyRanges(const LoopRanges& ranges, const Owners& owners,
               const core::LargeVector<std::uint32_t>& step_of, std::uint32_t thread)
      : ranges_(ranges), owners_(owners), step_of_(step_of), rows_(ranges.rows_of(thread)) {
    for (RangeRow row = rows_.begin; row < rows_.end; ++row) {
      if (ranges.is_backward(row)) continue;
      const std::int64_t start = ranges.start[row], end = ranges.end[row];
      if (ranges.is_floating(row)) {
        starts_.push_back(start);
        ends_.push_back({end, start, owner_of(row), ranges.has(row, trait_wait)});
      } else {
        nested_starts_.push_back(start);
        nested_ends_.push_back(end);
      }
      if (step_of[row] == Owners::none) continue;
      step_starts_.push_back(start);
      step_ends_.push_back(end);
    }
    std::sort(ends_.begin(), ends_.end());
    std::sort(nested_ends_.begin(), nested_ends_.end());
    std::sort(step_ends_.begin(), step_ends_.end());
  }

  // `all`: the time of each group while other requests are open. Outer ranges come first.
  std::vector<Candidate> find(std::vector<std::int64_t>& all) {
    std::vector<Candidate> found;
    auto start = starts_.cbegin();
    auto end = ends_.cbegin();
    for (RangeRow row = rows_.begin; row < rows_.end; ++row) {
      const std::int64_t from = ranges_.start[row], to = ranges_.end[row];
      if (to - from < least_hold || step_of_[row] != Owners::none) continue;
      if (ranges_.is_backward(row)) continue;
      while (start != starts_.cend() && *start <= from) ++start;
      while (end != ends_.cend() && end->at <= from) ++end;
      const bool is_lonely = (start == starts_.cend() || *start >= to) &&
                             (end == ends_.cend() || end->at >= to) && nests(from, to);
      const std::int64_t others = open_at(from) - (owner_of(row) == Owners::none ? 0 : 1);
      if (others > 0) all[ranges_.group[row]] += to - from;
      if (is_lonely) found.push_back({row, owner_of(row), others, 0});
    }
    if (ends_.empty() || found.empty()) return {};
    const std::int64_t extent = ends_.back().at - starts_.front();
    rate_ =
        static_cast<double>(ends_.size()) / static_cast<double>(std::max<std::int64_t>(1, extent));
    for (Candidate& one : found) one.released = released(one);
    return found;
  }
  // How many floating ranges end in such a time.
  double ends_within(std::int64_t time) const { return rate_ * static_cast<double>(time); }

 private:
  std::uint32_t owner_of(RangeRow row) const {
    return step_of_[row] != Owners::none ? step_of_[row] : owners_.step[row];
  }
  // Whether what begins within a time, of what does not float, ends in it.
  bool nests(std::int64_t from, std::int64_t to) const {
    const auto between = [&](const Times& times) {
      const auto first = std::upper_bound(times.begin(), times.end(), from);
      return std::lower_bound(first, times.end(), to) - first;
    };
    return between(nested_starts_) == between(nested_ends_);
  }
  std::int64_t open_at(std::int64_t time) const {
    const auto begun = std::upper_bound(step_starts_.begin(), step_starts_.end(), time);
    const auto ended = std::upper_bound(step_ends_.begin(), step_ends_.end(), time);
    return (begun - step_starts_.begin()) - (ended - step_ends_.begin());
  }
  double released(const Candidate& one) const {
    const std::int64_t at = ranges_.end[one.row];
    const std::int64_t tolerance = std::max<std::int64_t>(100'000, ranges_.duration(one.row) / 20);
    auto end = std::upper_bound(ends_.begin(), ends_.end(), FloatingEnd{at, 0, 0, false});
    bool is_followed = false;
    for (int i = 0; i < most_ends && end != ends_.end() && end->at <= at + tolerance; ++i, ++end) {
      const bool is_other = end->owner != one.owner && end->start < at && !end->waits;
      is_followed = is_followed || is_other;
    }
    // By chance a range is alone, and another one ends right after it.
    const double alone = std::exp(-ends_within(ranges_.duration(one.row)));
    return (is_followed ? 1.0 : 0.0) - alone * std::min(1.0, ends_within(tolerance));
  }

  const LoopRanges& ranges_;
  const Owners& owners_;
  const core::LargeVector<std::uint32_t>& step_of_;
  const LoopRanges::Rows rows_;
  Times starts_, nested_starts_, nested_ends_, step_starts_, step_ends_;
  std::vector<FloatingEnd> ends_;
  double rate_ = 0;
};

// Intervals that do not overlap: how much of another one they are.
class Held {
 public:
  void add(std::int64_t start, std::int64_t end) {
    starts_.push_back(start);
    ends_.push_back(end);
    sums_.push_back((sums_.empty() ? 0 : sums_.back()) + end - start);
  }
  std::int64_t within(std::int64_t start, std::int64_t end) const {
    return until(end) - until(start);
  }

 private:
  std::int64_t until(std::int64_t time) const {
    const auto next = std::lower_bound(starts_.begin(), starts_.end(), time);
    if (next == starts_.begin()) return 0;
    const auto place = static_cast<std::size_t>(next - starts_.begin()) - 1;
    return sums_[place] - std::max<std::int64_t>(0, ends_[place] - time);
  }

  Times starts_, ends_, sums_;
};

class HoldFinder {
 public:
  HoldFinder(const LoopRanges& ranges, const LoopSteps& requests, const Owners& owners,
             HeldRequests* single)
      : ranges_(ranges), requests_(requests), owners_(owners), single_(single) {}

  LoopHolds find() {
    step_of_.assign(ranges_.size(), Owners::none);
    std::vector<std::uint8_t> has_steps(ranges_.of_threads.size());
    for (std::uint32_t step = 0; step < requests_.size(); ++step) {
      step_of_[requests_.rows[step]] = step;
      has_steps[static_cast<std::size_t>(requests_.thread[step])] = 1;
      time_ += requests_.end[step] - requests_.start[step];
    }
    all_.resize(ranges_.groups.size());
    for (std::uint32_t thread = 0; thread < has_steps.size(); ++thread) {
      if (has_steps[thread] != 0) look_at(thread);
    }
    LoopHolds found;
    std::vector<std::uint8_t> is_told(ranges_.groups.size());
    for (const auto& [group, sum] : sums_) is_told[group] = holds(group, sum) ? 1 : 0;
    keep_outermost(is_told);
    for (const auto& [group, sum] : sums_) {
      if (is_told[group] != 0) found.holds.push_back(sum.hold);
    }
    if (found.holds.empty()) return found;
    std::stable_sort(found.holds.begin(), found.holds.end(),
                     [](const LoopHold& a, const LoopHold& b) { return a.waiting > b.waiting; });
    find_held(found, is_told);
    return found;
  }

 private:
  struct Sum {
    LoopHold hold;
    std::int64_t among_others = 0;
    double released = 0, expected = 0;
  };

  void look_at(std::uint32_t thread) {
    LonelyRanges lonely(ranges_, owners_, step_of_, thread);
    std::set<std::uint32_t> groups;
    for (const Candidate& one : lonely.find(all_)) {
      const std::int64_t duration = ranges_.duration(one.row);
      Sum& sum = sums_[ranges_.group[one.row]];
      LoopHold& hold = sum.hold;
      if (hold.calls++ == 0) {
        hold.group = ranges_.group[one.row];
        hold.thread = thread;
        hold.is_nested = (ranges_.flags[one.row] & LoopRanges::start_end) == 0;
      }
      hold.threads += groups.insert(hold.group).second ? 1 : 0;
      hold.total += duration;
      hold.longest = std::max(hold.longest, duration);
      hold.waiting += duration * std::max<std::int64_t>(0, one.others);
      if (one.others > 0) {
        sum.among_others += duration;
        sum.released += static_cast<double>(duration) * one.released;
        sum.expected += lonely.ends_within(duration);
      }
      candidates_[thread].push_back(one);
    }
  }
  bool holds(std::uint32_t group, const Sum& sum) const {
    const auto total = static_cast<double>(sum.among_others);
    return total >= least_alone * static_cast<double>(all_[group]) &&
           sum.released > least_released * total && sum.expected >= least_expected &&
           static_cast<double>(sum.hold.waiting) >= least_waiting * static_cast<double>(time_);
  }

  // Leaves out groups of which most is within others; and of the rest, what is.
  void keep_outermost(std::vector<std::uint8_t>& is_told) {
    std::map<std::uint32_t, std::int64_t> inner;
    for (auto& [thread, candidates] : candidates_) {
      std::int64_t until = never;
      const auto is_left_out = [&](const Candidate& one) {
        const std::uint32_t group = ranges_.group[one.row];
        if (is_told[group] == 0) return true;
        if (ranges_.start[one.row] < until) {
          inner[group] += ranges_.duration(one.row);
          return true;
        }
        until = ranges_.end[one.row];
        return false;
      };
      candidates.erase(std::remove_if(candidates.begin(), candidates.end(), is_left_out),
                       candidates.end());
    }
    for (const auto& [group, time] : inner) {
      if (2 * time > sums_[group].hold.total) is_told[group] = 0;
    }
  }

  // How long each range of a request is held by others.
  void find_held(LoopHolds& found, const std::vector<std::uint8_t>& is_told) {
    std::map<std::uint32_t, std::pair<Times, Times>> durations;  // held, and free
    std::map<std::uint32_t, LoopHeld> groups;
    const std::vector<HeldRequests::Group*> singles = single_by_group();
    for (const auto& [thread, candidates] : candidates_) {
      Held all;
      std::map<std::uint32_t, Held> own;  // of each request
      for (const Candidate& one : candidates) {
        if (is_told[ranges_.group[one.row]] == 0) continue;
        all.add(ranges_.start[one.row], ranges_.end[one.row]);
        if (one.owner != Owners::none) {
          own[one.owner].add(ranges_.start[one.row], ranges_.end[one.row]);
        }
      }
      const LoopRanges::Rows rows = ranges_.rows_of(thread);
      for (RangeRow row = rows.begin; row < rows.end; ++row) {
        const bool is_step = step_of_[row] != Owners::none;
        const std::uint32_t owner = is_step ? step_of_[row] : owners_.step[row];
        if (owner == Owners::none) continue;
        const std::int64_t start = ranges_.start[row], end = ranges_.end[row];
        const auto its = own.find(owner);
        const std::int64_t held =
            all.within(start, end) - (its == own.end() ? 0 : its->second.within(start, end));
        if (is_step) {
          found.held += held;
          if (single_ != nullptr) single_->held[owner] += held;
          continue;
        }
        if (HeldRequests::Group* const one = singles[ranges_.group[row]]; one != nullptr) {
          one->total[owner] += end - start;
          one->held[owner] += held;
        }
        LoopHeld& group = groups[ranges_.group[row]];
        group.total += end - start;
        group.held += held;
        auto& [held_ones, free_ones] = durations[ranges_.group[row]];
        (held > 0 ? held_ones : free_ones).push_back(end - start);
      }
    }
    for (auto& [group, one] : groups) {
      if (one.held == 0) continue;
      auto& [held_ones, free_ones] = durations[group];
      one.group = group;
      one.held_calls = held_ones.size();
      one.free_calls = free_ones.size();
      if (!held_ones.empty()) one.held_median = core::median(held_ones);
      if (!free_ones.empty()) one.free_median = core::median(free_ones);
      found.parts.push_back(one);
    }
  }
  // What is asked of single requests, by the numbers of groups.
  std::vector<HeldRequests::Group*> single_by_group() const {
    std::vector<HeldRequests::Group*> by_group(ranges_.groups.size());
    if (single_ == nullptr) return by_group;
    for (HeldRequests::Group& one : single_->groups) by_group[one.group] = &one;
    return by_group;
  }

  const LoopRanges& ranges_;
  const LoopSteps& requests_;
  const Owners& owners_;
  HeldRequests* const single_;
  core::LargeVector<std::uint32_t> step_of_;  // of the requests' rows
  std::int64_t time_ = 0;                     // of all requests
  std::vector<std::int64_t> all_;             // of each group, while other requests are open
  std::map<std::uint32_t, Sum> sums_;         // by group
  std::map<std::uint32_t, std::vector<Candidate>> candidates_;  // by thread
};

}  // namespace

LoopHolds find_holds(const LoopRanges& ranges, const LoopSteps& requests, const Owners& owners,
                     HeldRequests* single) {
  if (single != nullptr) {
    single->held.resize(requests.size());
    for (HeldRequests::Group& one : single->groups) {
      one.total.resize(requests.size());
      one.held.resize(requests.size());
    }
  }
  if (!requests.is_floating) return {};
  return HoldFinder(ranges, requests, owners, single).find();
}

}  // namespace nvspan::reader
