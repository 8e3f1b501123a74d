// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/ranges.hpp"

#include "reader/loops/nesting.hpp"
#include "reader/scan/range_scan.hpp"
#include "reader/scan/work_sites.hpp"
#include "trace/event/event.hpp"

#include <numeric>
#include <stdexcept>
#include <tuple>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::int64_t never_ended = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t never_later = std::numeric_limits<std::int64_t>::max();

// A row for each range, at its beginning; what did not end is left without an end.
class ColumnScan : public RangeScan<ColumnScan> {
 public:
  ColumnScan(const Recording& recording, const Selection& selection, LoopRanges& out)
      : RangeScan(recording, selection), closed_of(recording.sites().size()), out_(out) {
    std::size_t words = 0;  // a range has two at least
    for (const ReadThread& thread : recording.threads()) {
      for (const ReadChunk& chunk : thread.chunks) {
        words += static_cast<std::size_t>(chunk.end - chunk.begin);
      }
    }
    const std::size_t most = std::min<std::size_t>(words / 2, no_range);
    out.start.reserve(most);
    out.end.reserve(most);
    out.group.reserve(most);
    out.flags.reserve(most);
    out.of_threads.resize(recording.threads().size());
    const std::int64_t calls = recording.domain_called(record::call_domain);
    for (const ReadSite& site : recording.sites()) {
      is_launch_.push_back(site.domain == calls && is_launch_call(recording.text(site.name)));
      const bool is_call = site.stretch == StretchKind::none || site.stretch == StretchKind::begins;
      const int resumed = is_call ? 0 : LoopRanges::resumes;
      flags_of_.push_back(
          static_cast<std::uint8_t>(resumed | (site.backward ? LoopRanges::backward : 0)));
    }
  }

  void begin_thread(std::uint32_t thread) { out_.of_threads[thread].begin = rows(); }
  void end_thread(std::uint32_t thread) { out_.of_threads[thread].end = rows(); }
  std::uint64_t open(const PushRange& range, std::uint64_t, const EntryPayload&) {
    return add(range.site, time(range.start), 0);
  }
  std::uint64_t opened(const ScannedRange& range, std::uint64_t, std::uint64_t,
                       const EntryPayload&) {
    if (range.kind == RangeKind::device) {
      has_device_ranges = true;
      return no_row;
    }
    if (is_launch_[range.site]) return no_row;
    return add(range.site, range.start, LoopRanges::start_end);
  }
  [[gnu::always_inline]] void ended(const ScannedRange& range) {
    if (range.row == no_row) return;
    if (range.reason != EndReason::closed) return stay(range);
    ++closed;
    ++closed_of[range.site];
    out_.end[range.row] = range.end;
    if (range.end_thread != range.thread) move(range);
  }

  std::uint64_t closed = 0;
  bool has_flags = false;
  bool has_device_ranges = false;
  std::vector<std::uint64_t> closed_of;  // of each site
  std::vector<UnendedRange> still_open;
  std::vector<MovedRange> moved;

 private:
  RangeRow rows() const { return static_cast<RangeRow>(out_.start.size()); }
  std::uint64_t add(std::uint32_t site, std::int64_t start, std::uint8_t flags) {
    if (out_.start.size() >= no_range) throw std::length_error("too many ranges");
    flags |= flags_of_[site];
    has_flags = has_flags || flags != 0;
    out_.start.push_back(start);
    out_.end.push_back(never_ended);
    out_.group.push_back(site);
    out_.flags.push_back(flags);
    return out_.start.size() - 1;
  }
  [[gnu::noinline]] void move(const ScannedRange& range) {
    out_.flags[range.row] |= LoopRanges::elsewhere;
    moved.push_back({range.thread, range.start, range.end, range.end_thread});
  }
  [[gnu::noinline]] void stay(const ScannedRange& range) {
    if (range.reason == EndReason::lost) return;  // it ended where events are missing
    still_open.push_back({range.site, range.thread, range.start, range.end});
  }

  LoopRanges& out_;
  std::vector<std::uint8_t> flags_of_;  // sites
  std::vector<bool> is_launch_;         // likewise: a call whose work is what counts
};

auto place_of(const MovedRange& range) {
  return std::make_tuple(range.thread, range.start, range.end);
}

template <typename Vector>
void permute(Vector& column, const RangeRows& order, RangeRow begin) {
  Vector sorted(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = column[order[i]];
  std::copy(sorted.begin(), sorted.end(), column.begin() + static_cast<std::ptrdiff_t>(begin));
}

}  // namespace

LoopRanges::LoopRanges(const Recording& recording, const Selection& selection) {
  ColumnScan scan(recording, selection, *this);
  scan.run();
  if (scan.closed != size()) drop_unclosed();
  for (const ReadThread& one : recording.threads()) processes_.push_back(one.process);
  first = size() == 0 ? 0 : never_later;
  last = size() == 0 ? 0 : never_ended;
  for (Rows& rows : of_threads) {
    if (rows.begin == rows.end) continue;
    sort(rows);
    rows.last = *std::max_element(end.begin() + static_cast<std::ptrdiff_t>(rows.begin),
                                  end.begin() + static_cast<std::ptrdiff_t>(rows.end));
    first = std::min(first, start[rows.begin]);
    last = std::max(last, rows.last);
  }
  has_flags_ = scan.has_flags;
  has_device_ranges_ = scan.has_device_ranges;
  still_open_ = std::move(scan.still_open);
  moved_ = std::move(scan.moved);
  std::sort(moved_.begin(), moved_.end(),
            [](const MovedRange& a, const MovedRange& b) { return place_of(a) < place_of(b); });
  name_sites(recording, scan.closed_of);
}

std::uint32_t LoopRanges::thread_of(RangeRow row) const {
  // A thread without rows begins and ends where others do.
  const auto next = std::upper_bound(of_threads.begin(), of_threads.end(), row,
                                     [](RangeRow at, const Rows& rows) { return at < rows.end; });
  return static_cast<std::uint32_t>(next - of_threads.begin());
}

std::uint32_t LoopRanges::end_thread_of(std::uint32_t thread, std::int64_t start,
                                        std::int64_t end) const {
  const auto place = std::make_tuple(thread, start, end);
  const auto found =
      std::lower_bound(moved_.begin(), moved_.end(), place,
                       [](const MovedRange& a, const auto& b) { return place_of(a) < b; });
  return found != moved_.end() && place_of(*found) == place ? found->end_thread : thread;
}

void LoopRanges::drop_unclosed() {
  RangeRow kept = 0;
  for (Rows& rows : of_threads) {
    const RangeRow begin = kept;
    for (RangeRow i = rows.begin; i < rows.end; ++i) {
      if (end[i] == never_ended) continue;
      start[kept] = start[i];
      end[kept] = end[i];
      group[kept] = group[i];
      flags[kept++] = flags[i];
    }
    rows = {begin, kept, 0};
  }
  start.resize(kept);
  end.resize(kept);
  group.resize(kept);
  flags.resize(kept);
}

void LoopRanges::sort(const Rows& rows) {
  const auto precedes = [&](RangeRow a, RangeRow b) {
    return start[a] != start[b] ? start[a] < start[b] : end[a] > end[b];
  };
  RangeRow next = rows.begin + 1;
  while (next < rows.end && !precedes(next, next - 1)) ++next;
  if (next >= rows.end) return;
  RangeRows order(rows.end - rows.begin);
  std::iota(order.begin(), order.end(), rows.begin);
  std::stable_sort(order.begin(), order.end(), precedes);
  permute(start, order, rows.begin);
  permute(end, order, rows.begin);
  permute(group, order, rows.begin);
  permute(flags, order, rows.begin);
}

// The column `group` has sites until nest().
void LoopRanges::name_sites(const Recording& recording, const std::vector<std::uint64_t>& closed) {
  constexpr auto registered = static_cast<std::uint8_t>(trace::MessageType::registered);
  const std::vector<ReadSite>& sites = recording.sites();
  std::vector<std::uint64_t> unclosed(sites.size());
  for (const UnendedRange& range : still_open_) ++unclosed[range.site];
  std::vector<std::uint32_t> order;  // of sites that have ranges
  for (std::uint32_t i = 0; i < sites.size(); ++i) {
    if (closed[i] != 0) order.push_back(i);
  }
  const auto pair_of = [&](std::uint32_t site) {
    return std::make_pair(sites[site].domain, sites[site].name);
  };
  std::sort(order.begin(), order.end(),
            [&](std::uint32_t a, std::uint32_t b) { return pair_of(a) < pair_of(b); });
  name_of_site_.resize(sites.size());
  for (const std::uint32_t site : order) {
    const auto [domain, name] = pair_of(site);
    if (names_.empty() || names_.back().domain != domain || names_.back().name != name) {
      names_.emplace_back();
      names_.back().domain = domain;
      names_.back().name = name;
    }
    names_.back().ranges += closed[site];
    names_.back().unclosed += unclosed[site];
    if (sites[site].message_type != registered) names_.back().is_registered = false;
    name_of_site_[site] = static_cast<std::uint32_t>(names_.size() - 1);
  }
}

void LoopRanges::nest(const std::vector<std::uint32_t>& group_of_name,
                      std::vector<LoopGroup> given) {
  groups = std::move(given);
  for (std::size_t i = 0; i < names_.size(); ++i) {
    LoopGroup& to = groups[group_of_name[i]];
    if (to.ranges == 0) to.domain = names_[i].domain;
    to.ranges += names_[i].ranges;
    traits_ |= to.traits;
    if (!names_[i].is_registered) to.is_registered = false;
  }
  std::vector<std::uint32_t> group_of_site;
  for (const std::uint32_t name : name_of_site_) {
    group_of_site.push_back(names_.empty() ? 0 : group_of_name[name]);
  }
  for (std::uint32_t& site : group) site = group_of_site[site];
  if (has_flags_) find_floating();
  parent.resize(size());
  NestingStack stack(*this);
  for (std::uint32_t thread = 0; thread < of_threads.size(); ++thread) {
    for (RangeRow row = of_threads[thread].begin; row < of_threads[thread].end; ++row) {
      parent[row] = no_range;
      if (is_floating(row)) continue;
      stack.enter(row, thread);
      parent[row] = stack.parent();
    }
  }
}

// A name floats where one of its ranges ended in another thread, is a backward pass, or overlaps
// others of its thread. What is left of those that do not may overlap others: twice is enough.
void LoopRanges::find_floating() {
  std::vector<std::uint8_t> floats(groups.size());
  bool has_start_end = false;
  for (RangeRow row = 0; row < size(); ++row) {
    if ((flags[row] & (elsewhere | backward)) != 0) floats[group[row]] = 1;
    has_start_end = has_start_end || (flags[row] & start_end) != 0;
  }
  for (int pass = 0; has_start_end && pass < 2; ++pass) {
    const std::vector<std::uint32_t> crossing = crossing_groups(*this, floats);
    if (crossing.empty()) break;
    for (const std::uint32_t one : crossing) floats[one] = 1;
  }
  for (RangeRow row = 0; row < size(); ++row) {
    const bool may = (flags[row] & (start_end | backward | elsewhere)) != 0;
    if (may && floats[group[row]] != 0) flags[row] |= floating;
  }
}

Concurrency concurrency_of(std::vector<std::int64_t> starts, std::vector<std::int64_t> ends) {
  std::sort(starts.begin(), starts.end());
  std::sort(ends.begin(), ends.end());
  Concurrency found;
  std::int64_t open = 0, covered = 0;
  double all = 0;
  for (std::size_t s = 0, e = 0; e < ends.size();) {
    const bool begins = s < starts.size() && starts[s] < ends[e];
    const std::int64_t now = begins ? starts[s] : ends[e];
    // An interval without a length ends where it begins, so that none is open before its start.
    open += begins ? 1 : -1;
    found.peak = std::max(found.peak, open);
    begins ? ++s : ++e;
    const std::int64_t next = std::min(s < starts.size() ? starts[s] : never_later,
                                       e < ends.size() ? ends[e] : never_later);
    if (next == never_later) break;
    if (open > 0) covered += next - now;
    all += static_cast<double>(open) * static_cast<double>(next - now);
  }
  found.mean = all / static_cast<double>(std::max<std::int64_t>(1, covered));
  return found;
}

}  // namespace nvspan::reader
