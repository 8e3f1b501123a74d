// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/owners.hpp"

#include "reader/loops/open_requests.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <vector>

namespace nvspan::reader {
namespace {

constexpr double most_uneven = 0.02;  // of the requests: without one, or with one more

// Requests that begin in some threads and end in others, which hand them on one by one: what such a
// thread does until it ends a request is that one's.
class HandedRequests {
 public:
  explicit HandedRequests(const LoopSteps& steps) {
    if (steps.end_thread.empty()) return;
    std::set<std::uint32_t> first, last;
    for (std::uint32_t step = 0; step < steps.size(); ++step) {
      const auto thread = static_cast<std::uint32_t>(steps.thread[step]);
      first.insert(thread);
      if (steps.end_thread[step] == thread) continue;
      last.insert(steps.end_thread[step]);
      of_threads_[steps.end_thread[step]].push_back({steps.end[step], steps.start[step], step});
    }
    // Where requests go back and forth, an end does not tell whose the ranges before it are.
    for (const std::uint32_t thread : last) wanders_ = wanders_ || first.count(thread) != 0;
    if (wanders_) of_threads_.clear();
    for (auto& [thread, ends] : of_threads_) std::sort(ends.begin(), ends.end());
  }
  bool wanders() const { return wanders_; }
  bool has(std::uint32_t thread) const { return of_threads_.count(thread) != 0; }
  OpenRequests::Owner owner_of(std::uint32_t thread, std::int64_t start, std::int64_t end,
                               bool floats) const {
    const Ends& ends = of_threads_.at(thread);
    const auto next = std::lower_bound(ends.begin(), ends.end(), Handed{end, 0, 0});
    if (next == ends.end() || next->start > start) return {Owners::none, false};
    const bool is_alone = next + 1 == ends.end() || (next + 1)->start > start;
    return {next->step, floats && !is_alone};
  }

 private:
  struct Handed {
    std::int64_t end, start;
    std::uint32_t step;
    bool operator<(const Handed& other) const {
      return std::tie(end, start, step) < std::tie(other.end, other.start, other.step);
    }
  };
  using Ends = std::vector<Handed>;

  bool wanders_ = false;
  std::map<std::uint32_t, Ends> of_threads_;
};

// Groups that other threads have as often as there are requests, or twice, and so on, each range
// within one: parts of the requests.
std::vector<std::uint8_t> groups_of_requests(const LoopRanges& ranges, const LoopSteps& steps,
                                             const RangeRows& rows) {
  std::vector<std::int64_t> last_end;  // of the requests up to each one
  for (const std::int64_t end : steps.end) {
    last_end.push_back(last_end.empty() ? end : std::max(end, last_end.back()));
  }
  struct Count {
    std::uint64_t all = 0, within = 0;
  };
  std::vector<Count> counts(ranges.groups.size());
  for (const RangeRow row : rows) {
    Count& count = counts[ranges.group[row]];
    ++count.all;
    const auto next = std::upper_bound(steps.start.begin(), steps.start.end(), ranges.start[row]);
    if (next == steps.start.begin()) continue;
    const auto place = static_cast<std::size_t>(next - steps.start.begin()) - 1;
    count.within += last_end[place] >= ranges.end[row] ? 1 : 0;
  }
  std::vector<std::uint8_t> found(ranges.groups.size());
  const auto requests = static_cast<double>(steps.size());
  for (std::size_t group = 0; group < counts.size(); ++group) {
    const auto all = static_cast<double>(counts[group].all);
    const double each = std::round(all / requests);
    const bool is_even = each >= 1 && std::abs(all - each * requests) <= most_uneven * requests;
    const bool is_within = static_cast<double>(counts[group].within) >= (1 - most_uneven) * all;
    found[group] = is_even && is_within ? 1 : 0;
  }
  return found;
}

// The outermost ranges within requests: of the threads in which these begin or end, of other
// threads if each request has one, or of all where the requests' threads do nothing else.
void by_order_of_events(const LoopRanges& ranges, const LoopSteps& steps, Owners& owners) {
  std::vector<std::uint8_t> is_step(ranges.size());
  for (const RangeRow row : steps.rows) is_step[row] = 1;
  std::vector<std::uint8_t> has_steps(ranges.of_threads.size());
  ThreadOf thread_of(ranges);
  for (const std::int64_t thread : steps.thread) has_steps[static_cast<std::size_t>(thread)] = 1;
  for (const std::uint32_t thread : steps.end_thread) has_steps[thread] = 1;
  RangeRows rest, elsewhere;
  std::size_t same = 0;
  for (RangeRow row = 0; row < ranges.size(); ++row) {
    const bool is_outermost = ranges.parent[row] == no_range || ranges.is_floating(row);
    if (is_step[row] != 0 || !is_outermost || ranges.is_backward(row)) continue;
    rest.push_back(row);
    const bool is_same = has_steps[thread_of(row)] != 0;
    same += is_same ? 1 : 0;
    if (!is_same) elsewhere.push_back(row);
  }
  const HandedRequests handed(steps);
  bool is_across = static_cast<double>(same) < 0.2 * static_cast<double>(steps.size());
  if (!is_across) {
    const std::vector<std::uint8_t> belongs = groups_of_requests(ranges, steps, elsewhere);
    const auto is_other = [&](RangeRow row) {
      return has_steps[thread_of(row)] == 0 && belongs[ranges.group[row]] == 0;
    };
    const std::size_t before = rest.size();
    rest.erase(std::remove_if(rest.begin(), rest.end(), is_other), rest.end());
    is_across = handed.wanders() || elsewhere.size() > before - rest.size();
  }
  std::stable_sort(rest.begin(), rest.end(),
                   [&](RangeRow a, RangeRow b) { return ranges.start[a] < ranges.start[b]; });
  std::vector<std::uint64_t> calls(ranges.groups.size());
  for (const RangeRow row : rest) ++calls[ranges.group[row]];
  OpenRequests open(steps, is_across ? OpenRequests::Lanes::one : OpenRequests::Lanes::threads,
                    ranges.of_threads.size());
  std::uint64_t owned = 0, doubtful = 0;
  for (const RangeRow row : rest) {
    const std::uint32_t group = ranges.group[row], thread = thread_of(row);
    const std::int64_t start = ranges.start[row], end = ranges.end[row];
    const OpenRequests::Owner owner =
        handed.has(thread)
            ? handed.owner_of(thread, start, end, ranges.is_floating(row))
            : open.enter({start, end, is_across ? 0 : thread, group, calls[group] <= steps.size()});
    owners.step[row] = owner.request;
    owners.is_doubtful[row] = owner.is_doubtful ? 1 : 0;
    owned += owner.request != Owners::none ? 1 : 0;
    doubtful += owner.is_doubtful ? 1 : 0;
  }
  owners.doubtful = owned == 0 ? 0 : static_cast<double>(doubtful) / static_cast<double>(owned);
  for (RangeRow row = 0; row < ranges.size(); ++row) {  // nested ranges go with their parent
    const RangeRow parent = ranges.parent[row];
    if (parent != no_range && is_step[row] == 0 && !ranges.is_floating(row)) {
      owners.step[row] = owners.step[parent];
      owners.is_doubtful[row] = owners.is_doubtful[parent];
    }
  }
}

}  // namespace

OwnerSearch::OwnerSearch(const LoopRanges& ranges, const LoopSteps& steps)
    : ranges_(ranges),
      steps_(steps),
      is_whole_(steps.kind == LoopSteps::Kind::whole),
      order_(steps.size()) {
  std::iota(order_.begin(), order_.end(), std::uint32_t{0});
  if (std::is_sorted(steps.thread.begin(), steps.thread.end())) return;
  std::stable_sort(order_.begin(), order_.end(), [&](std::uint32_t a, std::uint32_t b) {
    return steps.thread[a] < steps.thread[b];
  });
}

std::vector<std::uint32_t> OwnerSearch::threads() const {
  std::vector<std::uint32_t> found;
  for (const std::uint32_t step : order_) {
    const auto thread = static_cast<std::uint32_t>(steps_.thread[step]);
    if (found.empty() || found.back() != thread) found.push_back(thread);
  }
  return found;
}

void OwnerSearch::begin_thread(std::uint32_t thread) {
  const auto of = [&](std::uint32_t step) { return steps_.thread[step]; };
  begin_ = next_ = std::partition_point(order_.cbegin(), order_.cend(),
                                        [&](std::uint32_t step) { return of(step) < thread; });
  end_ = std::partition_point(begin_, order_.cend(),
                              [&](std::uint32_t step) { return of(step) <= thread; });
}

Owners owners_of(const LoopRanges& ranges, const LoopSteps& steps) {
  Owners owners;
  owners.step.assign(ranges.size(), Owners::none);
  if (steps.is_floating) {
    owners.is_doubtful.assign(ranges.size(), 0);
    by_order_of_events(ranges, steps, owners);
    return owners;
  }
  OwnerSearch search(ranges, steps);
  for (const std::uint32_t thread : search.threads()) {
    search.begin_thread(thread);
    const LoopRanges::Rows rows = ranges.rows_of(thread);
    for (RangeRow row = rows.begin; row < rows.end; ++row) {
      owners.step[row] = search.owner_of(row);
    }
  }
  return owners;
}

OwnedStretches owned_stretches(const LoopRanges& ranges, const LoopSteps& steps,
                               const Owners& owners) {
  std::vector<std::uint8_t> is_step(ranges.size());
  for (const RangeRow row : steps.rows) is_step[row] = 1;
  const auto is_taken = [&](RangeRow row) {
    return is_step[row] == 0 && (ranges.flags[row] & LoopRanges::start_end) == 0 &&
           owners.step[row] != Owners::none && !owners.doubts(row);
  };
  OwnedStretches found;
  ThreadOf thread_of(ranges);
  for (RangeRow row = 0; row < ranges.size(); ++row) {
    const RangeRow around = ranges.parent[row];
    if (!is_taken(row) || (around != no_range && is_taken(around))) continue;
    found.step.push_back(owners.step[row]);
    found.thread.push_back(thread_of(row));
    found.start.push_back(ranges.start[row]);
    found.end.push_back(ranges.end[row]);
  }
  return found;
}

}  // namespace nvspan::reader
