// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/candidates.hpp"

#include "core/memory/path_table.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <optional>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::int64_t tiny = 2'000;
constexpr std::uint32_t none = 0xFFFFFFFF;

using ThreadCounts = std::map<std::uint32_t, std::uint64_t>;

// The outermost ranges of a group in a thread.
struct ThreadSum {
  std::uint32_t group = 0, thread = 0;
  std::uint64_t ranges = 0;
  std::uint64_t inner = 0;  // those within others of the group
  std::uint64_t tiny_ones = 0;
  std::int64_t total = 0, covered = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();
};

// One pass over all ranges: the sums and the place of each group.
class GroupScan {
 public:
  GroupScan(const LoopRanges& ranges, LoopCandidates& out)
      : ranges_(ranges),
        out_(out),
        latest_(ranges.groups.size(), none),
        floats_(ranges.groups.size()),
        nearest_(ranges.groups.size()) {
    out.places.resize(ranges.groups.size());
    for (RangeRow row = 0; ranges.has_flags() && row < ranges.size(); ++row) {
      if (ranges.is_floating(row) && !ranges.is_backward(row)) floats_[ranges.group[row]] = 1;
    }
  }

  void run() {
    for (std::uint32_t thread = 0; thread < ranges_.of_threads.size(); ++thread) {
      const LoopRanges::Rows rows = ranges_.rows_of(thread);
      for (RangeRow row = rows.begin; row < rows.end; ++row) {
        see_parent(row);
        if (!ranges_.is_backward(row)) add(row, thread);
      }
    }
    for (const ThreadSum& sum : sums_) {
      // Where a group holds itself, it is not known how many of its ranges hold one of another.
      if (sum.inner != 0) out_.places[sum.group].around = GroupNesting::several;
    }
    std::stable_sort(sums_.begin(), sums_.end(),
                     [](const ThreadSum& a, const ThreadSum& b) { return a.group < b.group; });
  }

  bool floats(std::uint32_t group) const { return floats_[group] != 0; }
  const std::vector<ThreadSum>& sums() const { return sums_; }  // by group and thread
  // Of each group, how many others three in ten of its ranges or more hold directly.
  std::vector<std::uint32_t> count_parts() const {
    constexpr double least_share = 0.3;
    std::vector<std::uint32_t> parts(ranges_.groups.size());
    for (const Pair& pair : pairs_) {
      const auto all = static_cast<double>(ranges_.groups[pair.outer].ranges);
      const bool is_part = static_cast<double>(pair.ranges) >= least_share * all;
      if (is_part && pair.outer != pair.inner) ++parts[pair.outer];
    }
    return parts;
  }

 private:
  struct Pair {  // of groups, one directly in the other
    std::uint32_t inner, outer;
    std::uint64_t ranges;
  };
  struct Nearest {  // around the latest range of a group
    RangeRow parent = no_range;
    std::uint32_t group = none;
    std::uint32_t pair = 0;
    bool is_seen = false;
  };

  void see_parent(RangeRow row) {
    const std::uint32_t group = ranges_.group[row];
    const RangeRow parent = ranges_.parent[row];
    const std::uint32_t outer = parent == no_range ? none : ranges_.group[parent];
    Nearest& nearest = nearest_[group];
    GroupNesting& place = out_.places[group];
    if (!nearest.is_seen || nearest.group != outer) {
      place.around = nearest.is_seen ? GroupNesting::several : outer;
      if (outer != none) nearest.pair = pair_of(group, outer);
      nearest.group = outer;
      nearest.is_seen = true;
    }
    if (outer == none) return;
    ++pairs_[nearest.pair].ranges;
    if (nearest.parent != parent) ++place.outers;
    nearest.parent = parent;
  }
  std::uint32_t pair_of(std::uint32_t inner, std::uint32_t outer) {
    std::uint64_t& number = numbers_[core::PathKey{outer, inner}];
    if (number == core::PathTable::none) {
      number = pairs_.size();
      pairs_.push_back({inner, outer, 0});
    }
    return static_cast<std::uint32_t>(number);
  }

  void add(RangeRow row, std::uint32_t thread) {
    const std::uint32_t group = ranges_.group[row];
    std::uint32_t& latest = latest_[group];
    if (latest == none || sums_[latest].thread != thread) {
      latest = static_cast<std::uint32_t>(sums_.size());
      ThreadSum& made = sums_.emplace_back();
      made.group = group;
      made.thread = thread;
    }
    ThreadSum& sum = sums_[latest];
    const std::int64_t start = ranges_.start[row], end = ranges_.end[row];
    const std::int64_t added = std::max<std::int64_t>(0, end - std::max(start, sum.last));
    if (added == 0 && end != start && floats_[group] == 0) {
      ++sum.inner;
      return;
    }
    ++sum.ranges;
    sum.covered += added;
    sum.total += end - start;
    sum.tiny_ones += end - start < tiny ? 1 : 0;
    sum.first = std::min(sum.first, start);
    sum.last = std::max(sum.last, end);
  }

  const LoopRanges& ranges_;
  LoopCandidates& out_;
  std::vector<std::uint32_t> latest_;  // of sums_, by group
  std::vector<std::uint8_t> floats_;   // groups that have floating ranges
  std::vector<Nearest> nearest_;
  std::vector<ThreadSum> sums_;
  std::vector<Pair> pairs_;
  core::PathTable numbers_;  // of pairs_
};

bool is_pool(const ThreadCounts& per_thread) {
  std::uint64_t least = std::numeric_limits<std::uint64_t>::max(), most = 0;
  for (const auto& [thread, count] : per_thread) {
    least = std::min(least, count);
    most = std::max(most, count);
  }
  return per_thread.size() >= 3 && static_cast<double>(least) > 0.3 * static_cast<double>(most);
}

// The loop's thread where that has a fifth of them, else the one that has the most.
std::uint32_t thread_of(const ThreadCounts& per_thread, std::uint32_t loop_thread) {
  std::uint32_t busiest = 0;
  std::uint64_t most = 0;
  for (const auto& [thread, count] : per_thread) {
    if (count > most) {
      most = count;
      busiest = thread;
    }
  }
  const auto found = per_thread.find(loop_thread);
  const double least = std::max(2.0, 0.2 * static_cast<double>(most));
  return found != per_thread.end() && static_cast<double>(found->second) >= least ? loop_thread
                                                                                  : busiest;
}

bool run_at_once(const LoopRanges& ranges, LoopCandidate candidate,
                 std::vector<std::uint32_t> threads) {
  candidate.threads = std::move(threads);
  std::vector<std::int64_t> starts, ends;
  for (const RangeRow row : rows_of(ranges, candidate)) {
    starts.push_back(ranges.start[row]);
    ends.push_back(ranges.end[row]);
  }
  return concurrency_of(std::move(starts), std::move(ends)).mean > 1.1;
}

bool is_told(const LoopRanges& ranges, const LoopCandidate& candidate) {
  return (ranges.groups[candidate.group].traits & (trait_given | trait_marked)) != 0;
}

// Of a process whose threads have some each, the loop's thread counts, or they are a pool, or they
// run at once. Of several processes each has a loop of its own. What is said to be a step is one in
// every thread.
void choose_threads(const LoopRanges& ranges, std::uint32_t loop_thread, const ThreadCounts& counts,
                    LoopCandidate& candidate) {
  std::map<std::uint32_t, ThreadCounts> processes;
  for (const auto& [thread, count] : counts) {
    processes[ranges.process_of_thread(thread)][thread] = count;
  }
  candidate.threads.clear();
  for (const auto& [process, threads] : processes) {
    std::vector<std::uint32_t> kept;
    for (const auto& [thread, count] : threads) kept.push_back(thread);
    if (kept.size() > 1 && candidate.thread == loop_thread && !is_pool(threads) &&
        !is_told(ranges, candidate)) {
      kept = {thread_of(threads, loop_thread)};
    } else if (kept.size() > 1 && run_at_once(ranges, candidate, kept)) {
      candidate.is_overlapping = true;
    }
    candidate.threads.insert(candidate.threads.end(), kept.begin(), kept.end());
  }
}

// Its figures from those of its threads; false: it has too few ranges.
bool fill(const LoopRanges& ranges, std::uint32_t loop_thread, const std::vector<ThreadSum>& sums,
          LoopCandidate& candidate) {
  const std::uint64_t least = is_told(ranges, candidate) ? 1 : 2;
  ThreadCounts counts;
  std::uint64_t inner = 0, kept = 0;
  for (const ThreadSum& sum : sums) {
    counts[sum.thread] = sum.ranges;
    candidate.threads.push_back(sum.thread);
    inner += sum.inner;
    kept += sum.ranges;
  }
  if (inner + kept < least) return false;
  candidate.is_recursive = static_cast<double>(inner) > 0.05 * static_cast<double>(inner + kept);
  candidate.thread = thread_of(counts, loop_thread);
  candidate.is_overlapping = candidate.floats;
  if (!candidate.floats && sums.size() > 1) {
    choose_threads(ranges, loop_thread, counts, candidate);
  }
  ThreadSum whole;
  std::int64_t covered = 0;
  for (const ThreadSum& sum : sums) {
    const auto& threads = candidate.threads;
    if (std::find(threads.begin(), threads.end(), sum.thread) == threads.end()) continue;
    whole.ranges += sum.ranges;
    whole.total += sum.total;
    whole.tiny_ones += sum.tiny_ones;
    whole.first = std::min(whole.first, sum.first);
    whole.last = std::max(whole.last, sum.last);
    if (sum.thread == candidate.thread) covered = sum.covered;
  }
  candidate.ranges = whole.ranges;
  if (candidate.ranges < least) return false;
  candidate.total = whole.total;
  candidate.is_tiny = 2 * whole.tiny_ones > candidate.ranges;
  candidate.is_plain = candidate.ranges == candidate.all_ranges && candidate.threads.size() == 1 &&
                       !candidate.is_overlapping;
  const LoopRanges::Rows of_thread = ranges.rows_of(candidate.thread);
  const std::int64_t extent =
      std::max<std::int64_t>(1, of_thread.last - ranges.start[of_thread.begin]);
  candidate.coverage = static_cast<double>(covered) / static_cast<double>(extent);
  candidate.extent = static_cast<double>(whole.last - whole.first) /
                     static_cast<double>(std::max<std::int64_t>(1, ranges.span()));
  return true;
}

}  // namespace

std::optional<LoopInside> inside_by_groups(const LoopRanges& ranges,
                                           const std::vector<GroupNesting>& places,
                                           const LoopCandidate& inner, const LoopCandidate& outer) {
  if (!inner.is_plain || !outer.is_plain) return std::nullopt;
  for (std::uint32_t group = inner.group;;) {
    const GroupNesting& place = places[group];
    if (place.around == GroupNesting::several) return std::nullopt;
    if (place.around == GroupNesting::outermost) return LoopInside();
    if (place.around == outer.group) {
      const auto all = static_cast<double>(outer.total);
      return LoopInside{1, static_cast<double>(inner.ranges) / static_cast<double>(place.outers),
                        static_cast<double>(inner.total) / std::max(1.0, all)};
    }
    if (place.outers != ranges.groups[place.around].ranges) return std::nullopt;
    group = place.around;
  }
}

RangeRows rows_of(const LoopRanges& ranges, const LoopCandidate& candidate) {
  RangeRows rows;
  rows.reserve(candidate.ranges);
  SortedCoverage coverage;
  for (const std::uint32_t thread : candidate.threads) {
    const LoopRanges::Rows all = ranges.rows_of(thread);
    for (RangeRow row = all.begin; row < all.end; ++row) {
      if (ranges.group[row] != candidate.group || ranges.is_backward(row)) continue;
      const bool adds = coverage.add(thread, ranges.start[row], ranges.end[row]) != 0;
      // Also those without a length.
      if (adds || candidate.floats || ranges.end[row] == ranges.start[row]) rows.push_back(row);
    }
  }
  return rows;
}

LoopCandidates find_candidates(const LoopRanges& ranges, std::uint32_t loop_thread) {
  LoopCandidates out;
  GroupScan scan(ranges, out);
  scan.run();
  const std::vector<std::uint32_t> parts = scan.count_parts();
  for (auto at = scan.sums().begin(); at != scan.sums().end();) {
    const std::uint32_t group = at->group;
    const auto next = std::find_if(at, scan.sums().end(),
                                   [&](const ThreadSum& sum) { return sum.group != group; });
    const std::uint8_t traits = ranges.groups[group].traits;
    if ((traits & trait_profile) == 0 || (traits & trait_given) != 0) {
      LoopCandidate candidate;
      candidate.group = group;
      candidate.all_ranges = ranges.groups[group].ranges;
      candidate.parts = parts[group];
      candidate.floats = scan.floats(group);
      if (fill(ranges, loop_thread, {at, next}, candidate)) out.all.push_back(candidate);
    }
    at = next;
  }
  if (out.all.size() <= most_candidates) return out;
  std::vector<std::int64_t> totals;
  for (const LoopCandidate& one : out.all) totals.push_back(one.total);
  std::nth_element(totals.begin(), totals.end() - most_candidates, totals.end());
  const std::int64_t least = totals[totals.size() - most_candidates];
  out.all.erase(std::remove_if(out.all.begin(), out.all.end(),
                               [&](const LoopCandidate& one) { return one.total < least; }),
                out.all.end());
  return out;
}

LoopInside inside_by_rows(const LoopRanges& ranges, const RangeRows& inner, const RangeRows& outer,
                          std::uint32_t thread) {
  const LoopRanges::Rows all = ranges.rows_of(thread);
  const auto from = [&](const RangeRows& rows) {
    return std::lower_bound(rows.begin(), rows.end(), all.begin);
  };
  const auto to = [&](const RangeRows& rows) {
    return std::lower_bound(rows.begin(), rows.end(), all.end);
  };
  const auto outers = from(outer), outers_end = to(outer);
  const auto inners = from(inner), inners_end = to(inner);
  if (outers == outers_end || inners == inners_end) return {};
  const auto count = static_cast<double>(inners_end - inners);
  const double most_outside = (1 - LoopInside::least) * count;
  double contained = 0, outside = 0, used = 0;
  std::int64_t time = 0, whole = 0;
  auto o = outers, last_used = outers_end;
  const bool is_sparse = 16 * (inners_end - inners) < outers_end - outers;
  for (auto i = inners; i != inners_end; ++i) {
    const std::int64_t start = ranges.start[*i];
    if (is_sparse) {
      o = std::partition_point(o, outers_end,
                               [&](RangeRow row) { return ranges.start[row] <= start; });
    } else {
      while (o != outers_end && ranges.start[*o] <= start) ++o;
    }
    // Of two with the same times the first is around the second.
    const bool is_inside = o != outers && ranges.end[*i] <= ranges.end[*(o - 1)] && *i > *(o - 1);
    if (!is_inside) {
      outside += 1;
      if (outside >= most_outside) return {};
      continue;
    }
    --o;
    contained += 1;
    used += last_used == o ? 0 : 1;
    last_used = o;
    time += ranges.duration(*i);
  }
  for (o = outers; o != outers_end; ++o) whole += ranges.duration(*o);
  LoopInside found;
  found.contained = contained / count;
  found.rounds = contained / std::max(1.0, used);
  found.time = static_cast<double>(time) / static_cast<double>(std::max<std::int64_t>(1, whole));
  return found;
}

bool is_regular(const LoopRanges& ranges, const RangeRows& rows) {
  std::vector<std::int64_t> starts;
  for (const RangeRow row : rows) starts.push_back(ranges.start[row]);
  std::sort(starts.begin(), starts.end());
  const auto count = static_cast<double>(starts.size() - 1);
  const double mean = static_cast<double>(starts.back() - starts.front()) / count;
  double squares = 0;
  for (std::size_t i = 1; i < starts.size(); ++i) {
    const double off = static_cast<double>(starts[i] - starts[i - 1]) - mean;
    squares += off * off;
  }
  return std::sqrt(squares / count) < 0.5 * mean;
}

bool are_siblings(const LoopRanges& ranges, const RangeRows& rows) {
  RangeRows parents;
  for (const RangeRow row : rows) parents.push_back(ranges.parent[row]);
  std::sort(parents.begin(), parents.end());
  const auto count = static_cast<double>(parents.size());
  double different = 0, most = 0;
  bool nests = false;
  for (auto at = parents.begin(); at != parents.end();) {
    const auto next = std::upper_bound(at, parents.end(), *at);
    most = std::max(most, static_cast<double>(next - at));
    different += 1;
    if (*at != no_range) {
      const RangeRow above = ranges.parent[*at];
      nests = nests || (above != no_range && ranges.group[above] == ranges.group[*at]);
    }
    at = next;
  }
  return most >= 0.9 * count || (different <= count / 5 && !nests);
}

}  // namespace nvspan::reader
