// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/traces/run_delay.hpp"

#include "core/statistics.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
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
