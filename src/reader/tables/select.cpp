// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/tables/tables.hpp"

#include <cstddef>

namespace nvspan::reader {
namespace {

template <typename T>
std::vector<T> taken(const std::vector<T>& from, const std::vector<std::size_t>& rows) {
  std::vector<T> values;
  values.reserve(rows.size());
  for (const std::size_t row : rows) values.push_back(from[row]);
  return values;
}

template <typename Test>
std::vector<std::size_t> rows_where(std::size_t count, Test&& test) {
  std::vector<std::size_t> numbers;
  for (std::size_t i = 0; i < count; ++i) {
    if (test(i)) numbers.push_back(i);
  }
  return numbers;
}

}  // namespace

RangeTable select_ranges(const RangeTable& ranges, const std::vector<bool>& keep) {
  const std::vector<std::size_t> rows =
      rows_where(ranges.size(), [&](std::size_t i) { return keep[i]; });
  // A parent comes before its children.
  std::vector<std::int64_t> nearest(ranges.size());
  std::int64_t next = 0;
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const std::int64_t parent = ranges.parent[i];
    const bool known = parent >= 0 && static_cast<std::size_t>(parent) < i;
    nearest[i] = keep[i] ? next++ : known ? nearest[static_cast<std::size_t>(parent)] : -1;
  }
  RangeTable selected;
  selected.start = taken(ranges.start, rows);
  selected.end = taken(ranges.end, rows);
  selected.self = taken(ranges.self, rows);
  selected.parent.reserve(rows.size());
  for (const std::size_t row : rows) {
    const std::int64_t parent = ranges.parent[row];
    const bool known = parent >= 0 && static_cast<std::size_t>(parent) < row;
    selected.parent.push_back(known ? nearest[static_cast<std::size_t>(parent)] : -1);
  }
  selected.thread = taken(ranges.thread, rows);
  selected.end_thread = taken(ranges.end_thread, rows);
  selected.site = taken(ranges.site, rows);
  selected.depth = taken(ranges.depth, rows);
  selected.level = taken(ranges.level, rows);
  selected.range_id = taken(ranges.range_id, rows);
  selected.payload = taken(ranges.payload, rows);
  selected.payload_bytes = taken(ranges.payload_bytes, rows);
  selected.has_payload = taken(ranges.has_payload, rows);
  selected.kind = taken(ranges.kind, rows);
  selected.end_reason = taken(ranges.end_reason, rows);
  if (!ranges.lane.empty()) {
    selected.lane = taken(ranges.lane, rows);
    selected.launch = taken(ranges.launch, rows);
    for (const std::size_t row : rows) {
      const std::int64_t launcher = ranges.launcher[row];
      selected.launcher.push_back(launcher < 0 ? -1 : nearest[static_cast<std::size_t>(launcher)]);
    }
  }
  return selected;
}

Tables select_rows(const Tables& tables, const Selection& selection) {
  const auto takes = [&](std::uint32_t site, std::uint32_t thread, std::int64_t time) {
    return selection.takes_site(site) && selection.takes_thread(thread) &&
           selection.takes_time(time);
  };
  const RangeTable& ranges = tables.ranges;
  std::vector<bool> keep(ranges.size());
  for (std::size_t i = 0; i < ranges.size(); ++i) {
    const bool closed = ranges.end_reason[i] == static_cast<std::uint8_t>(EndReason::closed);
    keep[i] = takes(ranges.site[i], ranges.thread[i], ranges.start[i]) &&
              (!closed || selection.takes_duration(ranges.end[i] - ranges.start[i]));
  }
  Tables selected;
  selected.ranges = select_ranges(ranges, keep);

  const MarkTable& marks = tables.marks;
  const auto mark_rows = rows_where(marks.time.size(), [&](std::size_t i) {
    return takes(marks.site[i], marks.thread[i], marks.time[i]);
  });
  selected.marks.time = taken(marks.time, mark_rows);
  selected.marks.thread = taken(marks.thread, mark_rows);
  selected.marks.site = taken(marks.site, mark_rows);
  selected.marks.payload = taken(marks.payload, mark_rows);
  selected.marks.payload_bytes = taken(marks.payload_bytes, mark_rows);
  selected.marks.has_payload = taken(marks.has_payload, mark_rows);

  const CounterTable& counters = tables.counters;
  const auto counter_rows = rows_where(counters.time.size(), [&](std::size_t i) {
    return selection.takes_counter(counters.counter[i]) &&
           selection.takes_thread(counters.thread[i]) && selection.takes_time(counters.time[i]);
  });
  selected.counters.time = taken(counters.time, counter_rows);
  selected.counters.thread = taken(counters.thread, counter_rows);
  selected.counters.counter = taken(counters.counter, counter_rows);
  selected.counters.value = taken(counters.value, counter_rows);
  selected.counters.integer = taken(counters.integer, counter_rows);
  selected.counters.kind = taken(counters.kind, counter_rows);

  selected.bytes = tables.bytes;
  selected.losses = tables.losses;
  selected.lanes = tables.lanes;
  selected.orphan_ends = tables.orphan_ends;
  return selected;
}

}  // namespace nvspan::reader
