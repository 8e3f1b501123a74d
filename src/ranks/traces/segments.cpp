// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/traces/segments.hpp"

#include "core/statistics/order.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <map>
#include <unordered_map>
#include <utility>

namespace nvspan::ranks {
namespace {

using Least = std::map<std::pair<std::int32_t, std::int32_t>, std::int64_t>;  // by op and name

std::int64_t share(std::int64_t ns, std::int64_t part, std::int64_t whole) {
  return static_cast<std::int64_t>(static_cast<double>(ns) * static_cast<double>(part) /
                                   static_cast<double>(whole));
}

// By collective: how much of the work before it is to be taken off.
std::vector<std::int64_t> without_core(const RankTrace& trace,
                                       const std::vector<RunDelay>& delays) {
  std::vector<std::int64_t> found(trace.collectives.size(), 0);
  std::size_t to = 0;
  for (std::size_t d = 0; d < delays.size(); ++d) {
    const std::size_t from = to;
    while (to < found.size() && trace.collectives[to].begin <= delays[d].at) ++to;
    if (d == 0 || to == from) continue;
    const std::int64_t work = trace.work(from, to - 1);
    const std::int64_t ns = std::min(delays[d].ns - delays[d - 1].ns, work);
    for (std::size_t i = from; i < to && ns > 0; ++i) found[i] = share(ns, trace.work(i, i), work);
  }
  return found;
}

// What a part takes at least before such a collective: the 5th percentile.
Least least_parts(const RankTrace& trace) {
  std::map<Least::key_type, std::vector<std::int64_t>> all;
  for (std::size_t i = 0; i < trace.collectives.size(); ++i) {
    for (std::size_t p = trace.first[i]; p < trace.first[i + 1]; ++p) {
      all[{trace.collectives[i].op, trace.parts[p].name}].push_back(trace.parts[p].ns);
    }
  }
  Least least;
  for (auto& [of, values] : all) {
    least[of] = core::percentile(values, 0.05);
  }
  return least;
}

}  // namespace

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

ThreadWork work_of(std::vector<GpuStretch>& spans) {
  std::sort(spans.begin(), spans.end(), [](const GpuStretch& a, const GpuStretch& b) {
    return a.start != b.start ? a.start < b.start : a.end > b.end;
  });
  ThreadWork work;
  std::vector<std::int64_t> open;
  const auto leave_before = [&](std::int64_t at) {
    while (!open.empty() && open.back() <= at) {
      work.leave(open.back());
      open.pop_back();
    }
  };
  for (const GpuStretch& span : spans) {
    leave_before(span.start);
    // Ranges that follow each other may overlap, as a full GPU is late to stamp an end in a graph.
    for (; !open.empty() && open.back() < span.end; open.pop_back()) work.leave(span.start);
    work.enter(span.start, span.text);
    open.push_back(span.end);
  }
  leave_before(std::numeric_limits<std::int64_t>::max());
  return work;
}

void take_off(RankTrace& trace, const std::vector<RunDelay>& delays, std::int32_t name) {
  const std::vector<std::int64_t> off = without_core(trace, delays);
  const Least least = least_parts(trace);
  std::vector<Part> parts;
  std::vector<std::int64_t> more;
  for (std::size_t i = 0; i + 1 < trace.first.size(); ++i) {
    const std::size_t from = parts.size();
    for (std::size_t p = trace.first[i]; p < trace.first[i + 1]; ++p) {
      parts.push_back(trace.parts[p]);
    }
    trace.first[i] = from;
    if (i >= off.size() || off[i] <= 0) continue;
    std::int64_t taken = 0;
    const auto take = [&](std::int64_t ns) {
      std::int64_t whole = 0;
      for (const std::int64_t each : more) whole += each;
      ns = std::min(ns, whole);
      for (std::size_t p = 0; p < more.size() && ns > 0; ++p) {
        const std::int64_t of_part = share(ns, more[p], whole);
        parts[from + p].ns -= of_part;
        taken += of_part;
      }
      more.clear();
    };
    for (std::size_t p = from; p < parts.size(); ++p) {
      const auto found = least.find({trace.collectives[i].op, parts[p].name});
      const std::int64_t ns = found == least.end() ? 0 : found->second;
      more.push_back(std::max<std::int64_t>(0, parts[p].ns - ns));
    }
    take(off[i]);
    for (std::size_t p = from; p < parts.size(); ++p) more.push_back(parts[p].ns);
    take(off[i] - taken);
    if (taken == 0) continue;
    const auto place = std::find_if(parts.begin() + static_cast<std::ptrdiff_t>(from), parts.end(),
                                    [&](const Part& part) { return part.name > name; });
    parts.insert(place, Part{name, taken});
  }
  trace.first.back() = parts.size();
  trace.parts.swap(parts);
}

}  // namespace nvspan::ranks
