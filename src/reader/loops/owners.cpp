// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/owners.hpp"

#include "reader/loops/open_requests.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace nvspan::reader {
namespace {

// The outermost ranges within requests: of the requests' threads, or of all where their work is in
// other threads.
void by_order_of_events(const LoopRanges& ranges, const LoopSteps& steps, Owners& owners) {
  std::vector<std::uint8_t> is_step(ranges.size());
  for (const RangeRow row : steps.rows) is_step[row] = 1;
  std::vector<std::uint8_t> has_steps(ranges.of_threads.size());
  ThreadOf thread_of(ranges);
  for (const std::int64_t thread : steps.thread) has_steps[static_cast<std::size_t>(thread)] = 1;
  RangeRows rest;
  std::size_t same = 0;
  for (RangeRow row = 0; row < ranges.size(); ++row) {
    const bool is_outermost = ranges.parent[row] == no_range || ranges.is_floating(row);
    if (is_step[row] != 0 || !is_outermost || ranges.is_backward(row)) continue;
    rest.push_back(row);
    same += has_steps[thread_of(row)];
  }
  const bool is_across = static_cast<double>(same) < 0.2 * static_cast<double>(steps.size());
  if (!is_across) {
    rest.erase(std::remove_if(rest.begin(), rest.end(),
                              [&](RangeRow row) { return has_steps[thread_of(row)] == 0; }),
               rest.end());
  }
  std::stable_sort(rest.begin(), rest.end(),
                   [&](RangeRow a, RangeRow b) { return ranges.start[a] < ranges.start[b]; });
  std::vector<std::uint64_t> calls(ranges.groups.size());
  for (const RangeRow row : rest) ++calls[ranges.group[row]];
  OpenRequests open(steps, is_across ? OpenRequests::Lanes::one : OpenRequests::Lanes::threads,
                    ranges.of_threads.size());
  std::uint64_t owned = 0, doubtful = 0;
  for (const RangeRow row : rest) {
    const std::uint32_t group = ranges.group[row];
    const OpenRequests::Entered entered{ranges.start[row], ranges.end[row],
                                        is_across ? 0 : thread_of(row), group,
                                        calls[group] <= steps.size()};
    const OpenRequests::Owner owner = open.enter(entered);
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

}  // namespace nvspan::reader
