// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/extract/noted.hpp"

#include "core/key_order.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <utility>

namespace nvspan::ranks {

bool by_device(const std::vector<NotedCollective>& noted) {
  return std::any_of(noted.begin(), noted.end(),
                     [](const NotedCollective& each) { return each.collective.device; });
}

void tell_calls(std::vector<NotedCollective>& noted) {
  std::vector<const NotedCollective*> calls;
  for (const NotedCollective& each : noted) {
    if (!each.collective.device && each.call_end != no_time) calls.push_back(&each);
  }
  core::stable_sort_by(calls.begin(), calls.end(),
                       [](const NotedCollective* each) { return each->collective.begin; });
  for (NotedCollective& each : noted) {
    Collective& collective = each.collective;
    if (!collective.device || each.launched == no_time) continue;
    const auto after = std::partition_point(
        calls.begin(), calls.end(),
        [&](const NotedCollective* call) { return call->collective.begin <= each.launched; });
    if (after == calls.begin()) continue;
    const NotedCollective& call = **(after - 1);
    if (call.call_end < each.launched || call.collective.op != collective.op) continue;
    collective.bytes = call.collective.bytes;
    if (collective.root < 0) collective.root = call.collective.root;
  }
}

std::vector<Collective> joined(const std::vector<NotedCollective>& noted) {
  std::vector<Collective> all;
  std::map<std::pair<std::uint64_t, std::int64_t>, std::size_t> numbers;
  const bool device = by_device(noted);
  for (const NotedCollective& each : noted) {
    if (device && !each.collective.device) continue;
    const std::pair<std::uint64_t, std::int64_t> key{each.collective.group,
                                                     each.collective.sequence};
    if (!each.is_wait) {
      if (each.collective.sequence != no_sequence) numbers[key] = all.size();
      all.push_back(each.collective);
      continue;
    }
    const auto found = numbers.find(key);
    if (found == numbers.end() || all[found->second].end != no_time) continue;
    if (all[found->second].enqueued) continue;  // it waits for nobody
    all[found->second].wait = each.collective.begin;
    all[found->second].end = each.collective.end;
  }
  core::stable_sort_by(all.begin(), all.end(), [](const Collective& each) { return each.begin; });
  return all;
}

}  // namespace nvspan::ranks
