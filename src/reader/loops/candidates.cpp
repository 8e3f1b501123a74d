// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/candidates.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <map>
#include <utility>

namespace nvspan::reader {
namespace {

using ThreadCounts = std::map<std::uint32_t, std::uint64_t>;

// The rows of each group, by thread and start.
class GroupRows {
 public:
  explicit GroupRows(const LoopRanges& ranges)
      : first_(ranges.groups.size() + 1), rows_(ranges.size()) {
    for (const std::uint32_t group : ranges.group) ++first_[group + 1];
    for (std::size_t i = 1; i < first_.size(); ++i) first_[i] += first_[i - 1];
    std::vector<std::size_t> next(first_.begin(), first_.end() - 1);
    for (RangeRow row = 0; row < ranges.size(); ++row) rows_[next[ranges.group[row]]++] = row;
  }
  std::size_t size_of(std::uint32_t group) const { return first_[group + 1] - first_[group]; }
  const RangeRow* begin(std::uint32_t group) const { return rows_.data() + first_[group]; }
  const RangeRow* end(std::uint32_t group) const { return rows_.data() + first_[group + 1]; }

 private:
  std::vector<std::size_t> first_;
  RangeRows rows_;
};

// Of each group, how many others three in ten of its ranges or more hold directly.
std::vector<std::uint32_t> count_parts(const LoopRanges& ranges, const GroupRows& members) {
  constexpr double least_share = 0.3;
  std::vector<std::uint32_t> parts(ranges.groups.size());
  std::vector<std::uint64_t> within(ranges.groups.size());
  std::vector<std::uint32_t> outers;
  for (std::uint32_t inner = 0; inner < ranges.groups.size(); ++inner) {
    for (const RangeRow* row = members.begin(inner); row != members.end(inner); ++row) {
      if (ranges.parent[*row] == no_range) continue;
      const std::uint32_t outer = ranges.group[ranges.parent[*row]];
      if (within[outer]++ == 0) outers.push_back(outer);
    }
    for (const std::uint32_t outer : outers) {
      const auto count = static_cast<double>(within[outer]);
      const bool is_part = count >= least_share * static_cast<double>(members.size_of(outer));
      if (is_part && outer != inner) ++parts[outer];
      within[outer] = 0;
    }
    outers.clear();
  }
  return parts;
}

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

ThreadCounts count_threads(const LoopRanges& ranges, const RangeRows& rows) {
  ThreadCounts counts;
  for (std::size_t i = 0; i < rows.size();) {
    const std::uint32_t thread = ranges.thread[rows[i]];
    const RangeRow limit = ranges.rows_of(thread).end;
    const auto next =
        std::lower_bound(rows.begin() + static_cast<std::ptrdiff_t>(i), rows.end(), limit);
    counts[thread] = static_cast<std::uint64_t>(next - rows.begin()) - i;
    i = static_cast<std::size_t>(next - rows.begin());
  }
  return counts;
}

// Leaves the outermost, also those without a length; true: more than one in twenty lie in others.
bool drop_inner(const LoopRanges& ranges, RangeRows& rows) {
  SortedCoverage coverage;
  std::size_t kept = 0, inner = 0;
  const std::size_t all = rows.size();
  for (const RangeRow row : rows) {
    const bool adds = coverage.add(ranges.thread[row], ranges.start[row], ranges.end[row]) != 0;
    if (adds || ranges.end[row] == ranges.start[row]) {
      rows[kept++] = row;
    } else {
      ++inner;
    }
  }
  rows.resize(kept);
  return static_cast<double>(inner) > 0.05 * static_cast<double>(all);
}

bool run_at_once(const LoopRanges& ranges, const RangeRows& rows, std::uint32_t process) {
  std::vector<std::int64_t> starts, ends;
  for (const RangeRow row : rows) {
    if (ranges.process_of(row) != process) continue;
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
void choose_threads(const LoopRanges& ranges, std::uint32_t loop_thread, LoopCandidate& candidate) {
  std::map<std::uint32_t, ThreadCounts> processes;
  for (const auto& [thread, count] : count_threads(ranges, candidate.rows)) {
    processes[ranges.process_of_thread(thread)][thread] = count;
  }
  std::vector<std::uint8_t> is_dropped(ranges.of_threads.size());
  for (const auto& [process, threads] : processes) {
    if (threads.size() < 2) continue;
    if (candidate.thread == loop_thread && !is_pool(threads) && !is_told(ranges, candidate)) {
      const std::uint32_t kept = thread_of(threads, loop_thread);
      for (const auto& [thread, count] : threads) is_dropped[thread] = thread == kept ? 0 : 1;
    } else if (run_at_once(ranges, candidate.rows, process)) {
      candidate.is_overlapping = true;
    }
  }
  RangeRows& rows = candidate.rows;
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [&](RangeRow row) { return is_dropped[ranges.thread[row]] != 0; }),
             rows.end());
}

// Its figures; false: it has too few ranges.
bool fill(const LoopRanges& ranges, std::uint32_t loop_thread, LoopCandidate& candidate) {
  const std::size_t least = is_told(ranges, candidate) ? 1 : 2;
  RangeRows& rows = candidate.rows;
  if (rows.size() < least) return false;
  candidate.is_overlapping =
      std::any_of(rows.begin(), rows.end(), [&](RangeRow row) { return ranges.is_floating(row); });
  if (!candidate.is_overlapping) candidate.is_recursive = drop_inner(ranges, rows);
  candidate.thread = thread_of(count_threads(ranges, rows), loop_thread);
  if (!candidate.is_overlapping) choose_threads(ranges, loop_thread, candidate);
  if (rows.size() < least) return false;
  constexpr std::int64_t tiny = 2'000;
  std::size_t short_ones = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max(), last = 0, covered = 0;
  SortedCoverage coverage;
  for (const RangeRow row : rows) {
    const std::int64_t duration = ranges.duration(row);
    candidate.total += duration;
    short_ones += duration < tiny ? 1 : 0;
    first = std::min(first, ranges.start[row]);
    last = std::max(last, ranges.end[row]);
    if (ranges.thread[row] == candidate.thread) {
      covered += coverage.add(candidate.thread, ranges.start[row], ranges.end[row]);
    }
  }
  candidate.is_tiny = 2 * short_ones > rows.size();
  const LoopRanges::Rows of_thread = ranges.rows_of(candidate.thread);
  const std::int64_t extent =
      std::max<std::int64_t>(1, of_thread.last - ranges.start[of_thread.begin]);
  candidate.coverage = static_cast<double>(covered) / static_cast<double>(extent);
  candidate.extent = static_cast<double>(last - first) /
                     static_cast<double>(std::max<std::int64_t>(1, ranges.span()));
  return true;
}

}  // namespace

std::vector<LoopCandidate> find_candidates(const LoopRanges& ranges, std::uint32_t loop_thread) {
  const GroupRows members(ranges);
  const std::vector<std::uint32_t> parts = count_parts(ranges, members);
  std::vector<LoopCandidate> found;
  for (std::uint32_t group = 0; group < ranges.groups.size(); ++group) {
    const std::uint8_t traits = ranges.groups[group].traits;
    if ((traits & trait_profile) != 0 && (traits & trait_given) == 0) continue;
    LoopCandidate candidate;
    candidate.group = group;
    candidate.all_ranges = members.size_of(group);
    candidate.parts = parts[group];
    std::copy_if(members.begin(group), members.end(group), std::back_inserter(candidate.rows),
                 [&](RangeRow row) { return !ranges.is_backward(row); });
    if (fill(ranges, loop_thread, candidate)) found.push_back(std::move(candidate));
  }
  if (found.size() <= most_candidates) return found;
  std::vector<std::int64_t> totals;
  for (const LoopCandidate& one : found) totals.push_back(one.total);
  std::nth_element(totals.begin(), totals.end() - most_candidates, totals.end());
  const std::int64_t least = totals[totals.size() - most_candidates];
  found.erase(std::remove_if(found.begin(), found.end(),
                             [&](const LoopCandidate& one) { return one.total < least; }),
              found.end());
  return found;
}

LoopInside inside_of(const LoopRanges& ranges, const LoopCandidate& inner,
                     const LoopCandidate& outer) {
  LoopInside found;
  if (inner.is_overlapping || outer.is_overlapping) return found;
  const auto of_thread = [&](const RangeRows& rows) {
    const LoopRanges::Rows all = ranges.rows_of(outer.thread);
    return std::make_pair(std::lower_bound(rows.begin(), rows.end(), all.begin),
                          std::lower_bound(rows.begin(), rows.end(), all.end));
  };
  auto [o, o_end] = of_thread(outer.rows);
  auto [i, i_end] = of_thread(inner.rows);
  if (o == o_end || i == i_end) return found;
  std::int64_t whole = 0, time = 0;
  for (auto row = o; row != o_end; ++row) whole += ranges.duration(*row);
  const auto all = static_cast<double>(i_end - i);
  double contained = 0, used = 0;
  auto last_used = o_end;
  const bool is_sparse = 16 * (i_end - i) < o_end - o;
  for (; i != i_end; ++i) {
    const std::int64_t start = ranges.start[*i];
    if (is_sparse) {
      o = std::partition_point(o, o_end, [&](RangeRow row) { return ranges.start[row] <= start; });
    } else {
      while (o != o_end && ranges.start[*o] <= start) ++o;
    }
    if (o == outer.rows.begin() || ranges.thread[*(o - 1)] != outer.thread) continue;
    --o;
    if (ranges.end[*i] > ranges.end[*o] || ranges.depth[*i] <= ranges.depth[*o]) continue;
    contained += 1;
    used += last_used == o ? 0 : 1;
    last_used = o;
    time += ranges.duration(*i);
  }
  found.contained = contained / all;
  found.rounds = contained / std::max(1.0, used);
  found.time = static_cast<double>(time) / static_cast<double>(std::max<std::int64_t>(1, whole));
  return found;
}

bool is_regular(const LoopRanges& ranges, const LoopCandidate& candidate) {
  std::vector<std::int64_t> starts;
  for (const RangeRow row : candidate.rows) starts.push_back(ranges.start[row]);
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

bool are_siblings(const LoopRanges& ranges, const LoopCandidate& candidate) {
  RangeRows parents;
  for (const RangeRow row : candidate.rows) parents.push_back(ranges.parent[row]);
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
