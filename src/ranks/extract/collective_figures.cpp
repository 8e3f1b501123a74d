// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "ranks/extract/extract.hpp"

#include "ranks/summary/range_sums.hpp"
#include "ranks/summary/summarize.hpp"

#include <algorithm>
#include <cstddef>
#include <map>
#include <tuple>
#include <vector>

namespace nvspan::ranks {
namespace {

std::string communicator(const Collective& of) {
  std::string text;
  for (std::uint64_t rest = of.group; rest != 0; rest >>= 4) text += "0123456789abcdef"[rest & 15];
  std::reverse(text.begin(), text.end());
  if (of.size > 0) text.append(":").append(std::to_string(of.size));
  return text;
}

void add(const Collective& one, std::int64_t unix_offset, RangeSums& to) {
  if (one.bytes > 0) to.figures.bytes += one.bytes;
  if (one.enqueued || one.end == no_time || one.end < one.begin) {
    ++to.figures.unclosed;
    return;
  }
  to.add(one.begin, one.end, unix_offset);
}

bool has_any(const reader::Recording& recording, const std::vector<std::string>& domains) {
  return std::any_of(domains.begin(), domains.end(),
                     [&](const std::string& name) { return recording.domain_called(name) >= 0; });
}

}  // namespace

void add_collectives(const reader::Recording& recording, const ExtractOptions& options,
                     Summary& to) {
  if (!has_any(recording, options.domains)) return;
  core::TextTable texts;
  for (const RankTrace& trace : extract(recording, options, texts)) {
    const reader::ReadProcess& process = recording.processes()[trace.process];
    const record::ClockSample& first = process.header.first;
    const auto unix_offset = static_cast<std::int64_t>(first.realtime - first.monotonic);
    std::map<std::tuple<std::int32_t, std::uint64_t, std::int32_t>, RangeSums> all;
    for (const Collective& one : trace.collectives) {
      RangeSums& sums = all[std::make_tuple(one.op, one.group, one.size)];
      sums.figures.threads = 1;
      add(one, unix_offset, sums);
    }
    for (const auto& [place, sums] : all) {
      Collective about;
      std::tie(about.op, about.group, about.size) = place;
      RangeKey key;
      key.domain = to.intern(communicator(about));
      key.name = to.intern(texts[static_cast<std::size_t>(about.op)]);
      key.kind = kind_of_collectives;
      key.group = group_of(process);
      to.row(key).merge(sums.packed());
    }
  }
}

}  // namespace nvspan::ranks
