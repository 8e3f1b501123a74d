// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/traces/segments.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace nvspan::ranks {

std::int64_t RankTrace::work(std::size_t from, std::size_t to, std::int32_t name) const noexcept {
  std::int64_t sum = 0;
  for (std::size_t i = from; i <= to; ++i) {
    const auto begin = parts.begin() + static_cast<std::ptrdiff_t>(first[i]);
    const auto end = parts.begin() + static_cast<std::ptrdiff_t>(first[i + 1]);
    const auto found = std::lower_bound(
        begin, end, name, [](const Part& part, std::int32_t of) { return part.name < of; });
    if (found != end && found->name == name) sum += found->ns;
  }
  return sum;
}

void ThreadWork::cut(RankTrace& trace, std::int32_t outside_text) {
  // When the thread waits: sorted and joined.
  std::vector<std::pair<std::int64_t, std::int64_t>> waits;
  for (const Collective& each : trace.collectives) {
    if (each.wait != no_time && each.end != no_time) waits.emplace_back(each.wait, each.end);
  }
  std::sort(waits.begin(), waits.end());
  std::size_t joined = 0;
  for (std::size_t i = 0; i < waits.size(); ++i) {
    if (joined != 0 && waits[i].first <= waits[joined - 1].second) {
      waits[joined - 1].second = std::max(waits[joined - 1].second, waits[i].second);
    } else {
      waits[joined++] = waits[i];
    }
  }
  waits.resize(joined);

  std::unordered_map<std::int32_t, std::int64_t> sums;
  std::size_t next = 0;  // collective
  std::size_t wait = 0;
  const auto finish = [&] {
    trace.first.push_back(trace.parts.size());
    trace.sums.push_back(trace.sums.empty() ? 0 : trace.sums.back());
    for (const auto& sum : sums) {
      trace.sums.back() += sum.second;
      if (sum.second != 0) trace.parts.push_back(Part{sum.first, sum.second});
    }
    std::sort(trace.parts.begin() + static_cast<std::ptrdiff_t>(trace.first.back()),
              trace.parts.end(), [](const Part& a, const Part& b) { return a.name < b.name; });
    sums.clear();
  };
  // From one moment to another nothing but waits and collectives change.
  const auto pass = [&](std::int64_t from, std::int64_t to, std::int32_t name) {
    while (from < to) {
      while (wait < waits.size() && waits[wait].second <= from) ++wait;
      while (next < trace.collectives.size() && trace.collectives[next].begin <= from) {
        finish();
        ++next;
      }
      std::int64_t until = to;
      if (next < trace.collectives.size()) until = std::min(until, trace.collectives[next].begin);
      const bool is_waiting = wait < waits.size() && waits[wait].first <= from;
      if (wait < waits.size()) {
        until = std::min(until, is_waiting ? waits[wait].second : waits[wait].first);
      }
      if (!is_waiting) sums[name < 0 ? outside_text : name] += until - from;
      from = until;
    }
  };
  std::int64_t last = changes_.empty() ? 0 : changes_.front().at;
  if (!trace.collectives.empty()) {
    last = changes_.empty() ? trace.collectives.front().begin
                            : std::min(last, trace.collectives.front().begin);
  }
  trace.start = last;
  std::int32_t name = outside;
  for (const Change& change : changes_) {
    if (change.at > last) {
      pass(last, change.at, name);
      last = change.at;
    }
    name = change.name;
  }
  for (const Collective& each : trace.collectives) {
    const std::int64_t end = std::max(each.begin, each.end);
    if (end > last) {
      pass(last, end, outside);
      last = end;
    }
  }
  while (next < trace.collectives.size()) {
    finish();
    ++next;
  }
  finish();
  trace.first.push_back(trace.parts.size());
  trace.end = last;
  trace.steps = std::move(steps);
}

void move(RankTrace& trace, std::int64_t by) {
  if (by == 0) return;
  trace.start += by;
  trace.end += by;
  for (Collective& each : trace.collectives) {
    each.begin += by;
    if (each.wait != no_time) each.wait += by;
    if (each.end != no_time) each.end += by;
  }
  for (Step& step : trace.steps) {
    step.start += by;
    step.end += by;
  }
}

}  // namespace nvspan::ranks
