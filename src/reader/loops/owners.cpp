// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/owners.hpp"

#include "reader/loops/open_requests.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

namespace nvspan::reader {
namespace {

// Of steps that do not overlap on their threads, those that hold a range.
void by_containment(const LoopRanges& ranges, const LoopSteps& steps, Owners& owners) {
  std::vector<std::uint32_t> order(steps.size());
  std::iota(order.begin(), order.end(), std::uint32_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::uint32_t a, std::uint32_t b) {
    return steps.thread[a] < steps.thread[b];
  });
  for (auto at = order.begin(); at != order.end();) {
    const std::int64_t thread = steps.thread[*at];
    const auto end = std::find_if(at, order.end(),
                                  [&](std::uint32_t one) { return steps.thread[one] != thread; });
    const LoopRanges::Rows rows = ranges.rows_of(static_cast<std::uint32_t>(thread));
    auto next = at;
    for (RangeRow row = rows.begin; row < rows.end; ++row) {
      while (next != end && steps.start[*next] <= ranges.start[row]) ++next;
      if (next == at || ranges.is_backward(row)) continue;
      const std::uint32_t step = *(next - 1);
      if (ranges.end[row] > steps.end[step]) continue;
      // A range around the step may have the step's own times.
      if (!steps.rows.empty() && ranges.depth[row] <= ranges.depth[steps.rows[step]]) continue;
      owners.step[row] = step;
    }
    at = end;
  }
}

// The outermost ranges within requests: of the requests' threads, or of all where their work is in
// other threads.
void by_order_of_events(const LoopRanges& ranges, const LoopSteps& steps, Owners& owners) {
  std::vector<std::uint8_t> is_step(ranges.size());
  for (const RangeRow row : steps.rows) is_step[row] = 1;
  std::vector<std::uint8_t> has_steps(ranges.of_threads.size());
  for (const std::int64_t thread : steps.thread) has_steps[static_cast<std::size_t>(thread)] = 1;
  RangeRows rest;
  std::size_t same = 0;
  for (RangeRow row = 0; row < ranges.size(); ++row) {
    const bool is_outermost = ranges.parent[row] == no_range || ranges.is_floating(row);
    if (is_step[row] != 0 || !is_outermost || ranges.is_backward(row)) continue;
    rest.push_back(row);
    same += has_steps[ranges.thread[row]];
  }
  const bool is_across = static_cast<double>(same) < 0.2 * static_cast<double>(steps.size());
  if (!is_across) {
    rest.erase(std::remove_if(rest.begin(), rest.end(),
                              [&](RangeRow row) { return has_steps[ranges.thread[row]] == 0; }),
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
                                        is_across ? 0 : ranges.thread[row], group,
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

Owners owners_of(const LoopRanges& ranges, const LoopSteps& steps) {
  Owners owners;
  owners.step.assign(ranges.size(), Owners::none);
  owners.is_doubtful.assign(ranges.size(), 0);
  if (steps.kind == LoopSteps::Kind::whole) {
    const LoopRanges::Rows rows = ranges.rows_of(static_cast<std::uint32_t>(steps.thread[0]));
    for (RangeRow row = rows.begin; row < rows.end; ++row) {
      if (!ranges.is_floating(row)) owners.step[row] = 0;
    }
  } else if (steps.is_floating) {
    by_order_of_events(ranges, steps, owners);
  } else {
    by_containment(ranges, steps, owners);
  }
  return owners;
}

}  // namespace nvspan::reader
