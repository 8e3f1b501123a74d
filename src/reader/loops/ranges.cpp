// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/ranges.hpp"

#include "reader/loops/nesting.hpp"
#include "reader/scan/range_scan.hpp"
#include "trace/event/event.hpp"

#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::int64_t never_ended = std::numeric_limits<std::int64_t>::min();
constexpr std::int64_t never_later = std::numeric_limits<std::int64_t>::max();

// A row for each range, at its beginning; what did not end is left without an end.
class ColumnScan : public RangeScan<ColumnScan> {
 public:
  ColumnScan(const Recording& recording, const Selection& selection, LoopRanges& out)
      : RangeScan(recording, selection), not_closed(recording.sites().size()), out_(out) {
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
    out.thread.reserve(most);
    out.flags.reserve(most);
  }

  std::uint64_t open(const PushRange& range, std::uint64_t, const EntryPayload&) {
    return add(range.site, time(range.start), 0);
  }
  std::uint64_t opened(const ScannedRange& range, std::uint64_t, std::uint64_t,
                       const EntryPayload&) {
    if (range.kind == RangeKind::device) {
      has_device_ranges = true;
      return no_row;
    }
    return add(range.site, range.start, LoopRanges::start_end);
  }
  [[gnu::always_inline]] void ended(const ScannedRange& range) {
    if (range.row == no_row) return;
    if (range.reason != EndReason::closed) {
      ++not_closed[range.site];
      return;
    }
    ++closed;
    out_.end[range.row] = range.end;
    if (range.end_thread != range.thread) out_.flags[range.row] |= LoopRanges::elsewhere;
  }

  std::uint64_t closed = 0;
  bool has_device_ranges = false;
  std::vector<std::uint64_t> not_closed;  // of each site

 private:
  std::uint64_t add(std::uint32_t site, std::int64_t start, std::uint8_t flags) {
    if (out_.start.size() >= no_range) throw std::length_error("too many ranges");
    if (recording_.sites()[site].backward) flags |= LoopRanges::backward;
    if (recording_.sites()[site].stretch == StretchKind::resumes) flags |= LoopRanges::resumes;
    out_.start.push_back(start);
    out_.end.push_back(never_ended);
    out_.group.push_back(site);
    out_.thread.push_back(thread_);
    out_.flags.push_back(flags);
    return out_.start.size() - 1;
  }

  LoopRanges& out_;
};

template <typename Vector>
void permute(Vector& column, const RangeRows& order) {
  Vector sorted(order.size());
  for (std::size_t i = 0; i < order.size(); ++i) sorted[i] = column[order[i]];
  column = std::move(sorted);
}

}  // namespace

LoopRanges::LoopRanges(const Recording& recording, const Selection& selection) {
  ColumnScan scan(recording, selection, *this);
  scan.run();
  if (scan.closed != size()) drop_unclosed();
  sort();
  of_threads.resize(recording.threads().size());
  for (const ReadThread& one : recording.threads()) processes_.push_back(one.process);
  for (std::size_t i = 0; i < size(); ++i) {
    Rows& rows = of_threads[thread[i]];
    if (rows.begin == rows.end) rows = {static_cast<RangeRow>(i), 0, end[i]};
    rows.end = static_cast<RangeRow>(i + 1);
    rows.last = std::max(rows.last, end[i]);
  }
  if (size() != 0) {
    first = *std::min_element(start.begin(), start.end());
    last = *std::max_element(end.begin(), end.end());
  }
  has_device_ranges_ = scan.has_device_ranges;
  name_sites(recording, scan.not_closed);
}

void LoopRanges::drop_unclosed() {
  std::size_t kept = 0;
  for (std::size_t i = 0; i < start.size(); ++i) {
    if (end[i] == never_ended) continue;
    start[kept] = start[i];
    end[kept] = end[i];
    group[kept] = group[i];
    thread[kept] = thread[i];
    flags[kept++] = flags[i];
  }
  start.resize(kept);
  end.resize(kept);
  group.resize(kept);
  thread.resize(kept);
  flags.resize(kept);
}

void LoopRanges::sort() {
  const auto precedes = [&](RangeRow a, RangeRow b) {
    if (thread[a] != thread[b]) return thread[a] < thread[b];
    return start[a] != start[b] ? start[a] < start[b] : end[a] > end[b];
  };
  bool is_sorted = true;
  for (std::size_t i = 1; i < size() && is_sorted; ++i) {
    is_sorted = !precedes(static_cast<RangeRow>(i), static_cast<RangeRow>(i - 1));
  }
  if (is_sorted) return;
  RangeRows order(size());
  std::iota(order.begin(), order.end(), RangeRow{0});
  std::stable_sort(order.begin(), order.end(), precedes);
  permute(start, order);
  permute(end, order);
  permute(group, order);
  permute(thread, order);
  permute(flags, order);
}

// The column `group` has sites until nest().
void LoopRanges::name_sites(const Recording& recording,
                            const std::vector<std::uint64_t>& unclosed) {
  for (const std::uint64_t count : unclosed) unclosed_ += count;
  constexpr auto registered = static_cast<std::uint8_t>(trace::MessageType::registered);
  const std::vector<ReadSite>& sites = recording.sites();
  std::vector<std::uint64_t> ranges(sites.size());
  for (const std::uint32_t site : group) ++ranges[site];
  std::vector<std::uint32_t> order;  // of sites that have ranges
  for (std::uint32_t i = 0; i < sites.size(); ++i) {
    if (ranges[i] != 0) order.push_back(i);
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
    names_.back().ranges += ranges[site];
    names_.back().unclosed += unclosed[site];
    if (sites[site].message_type != registered) names_.back().is_registered = false;
    name_of_site_[site] = static_cast<std::uint32_t>(names_.size() - 1);
  }
}

void LoopRanges::nest(const std::vector<std::uint32_t>& group_of_name,
                      std::vector<LoopGroup> given) {
  groups = std::move(given);
  std::vector<bool> has_domain(groups.size());
  for (std::size_t i = 0; i < names_.size(); ++i) {
    const std::uint32_t to = group_of_name[i];
    if (!has_domain[to]) groups[to].domain = names_[i].domain;
    has_domain[to] = true;
    if (!names_[i].is_registered) groups[to].is_registered = false;
  }
  for (std::uint32_t& site : group) site = group_of_name[name_of_site_[site]];
  find_floating();
  parent.assign(size(), no_range);
  depth.assign(size(), 0);
  NestingStack stack(*this);
  for (RangeRow row = 0; row < size(); ++row) {
    if (is_floating(row)) continue;
    stack.enter(row);
    parent[row] = stack.parent();
    depth[row] = static_cast<std::uint32_t>(stack.level());
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
