// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/loop_steps.hpp"

#include <algorithm>
#include <map>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::size_t most_in_round = 24;
constexpr std::size_t least_rounds = 5;

bool is_evaluation(const LoopRanges& ranges, RangeRow row) {
  for (row = ranges.parent[row]; row != no_range; row = ranges.parent[row]) {
    if (ranges.has(row, trait_evaluates)) return true;
  }
  return false;
}

// The siblings in which a cycle may be.
RangeRows siblings_of(const LoopRanges& ranges, std::uint32_t thread, const RangeRows* within) {
  RangeRows found;
  if (within != nullptr) {
    const std::uint32_t group = ranges.group[within->front()];
    for (RangeRow row = 0; row < ranges.size(); ++row) {
      const RangeRow parent = ranges.parent[row];
      if (parent != no_range && ranges.group[parent] == group &&
          std::binary_search(within->begin(), within->end(), parent)) {
        found.push_back(row);
      }
    }
    return found;
  }
  const LoopRanges::Rows all = ranges.rows_of(thread);
  std::vector<std::uint32_t> children(all.end - all.begin + 1);  // of each row; the first: of none
  const auto place_of = [&](RangeRow row) {
    return ranges.parent[row] == no_range ? 0 : ranges.parent[row] - all.begin + 1;
  };
  for (RangeRow row = all.begin; row < all.end; ++row) {
    if (!ranges.is_floating(row)) ++children[place_of(row)];
  }
  const auto most =
      static_cast<RangeRow>(std::max_element(children.begin(), children.end()) - children.begin());
  for (RangeRow row = all.begin; row < all.end; ++row) {
    if (!ranges.is_floating(row) && place_of(row) == most) found.push_back(row);
  }
  return found;
}

// Leaves the rows of groups that have three fifths of the calls of the most frequent one; false:
// these are no rounds.
bool keep_frequent(const LoopRanges& ranges, RangeRows& rows) {
  std::map<std::uint32_t, std::uint64_t> counts;
  std::uint64_t most = 0;
  for (const RangeRow row : rows) most = std::max(most, ++counts[ranges.group[row]]);
  const double least = std::max<double>(least_rounds, 0.6 * static_cast<double>(most));
  for (auto one = counts.begin(); one != counts.end();) {
    one = static_cast<double>(one->second) < least ? counts.erase(one) : std::next(one);
  }
  rows.erase(std::remove_if(rows.begin(), rows.end(),
                            [&](RangeRow row) { return counts.count(ranges.group[row]) == 0; }),
             rows.end());
  return counts.size() >= 2 && counts.size() <= most_in_round && rows.size() >= 10;
}

// The groups of most rounds, in turn; empty: rounds differ.
std::vector<std::uint32_t> usual_round(const LoopRanges& ranges, const RangeRows& rows,
                                       const std::vector<std::size_t>& begins) {
  std::map<std::vector<std::uint32_t>, std::size_t> shapes;
  std::vector<std::uint32_t> shape;
  for (std::size_t i = 0; i < begins.size(); ++i) {
    const std::size_t end = i + 1 < begins.size() ? begins[i + 1] : rows.size();
    shape.clear();
    for (std::size_t k = begins[i]; k < end; ++k) shape.push_back(ranges.group[rows[k]]);
    ++shapes[shape];
  }
  const auto usual =
      std::max_element(shapes.begin(), shapes.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  if (static_cast<double>(usual->second) < 0.7 * static_cast<double>(begins.size())) return {};
  if (usual->first.size() > most_in_round) return {};
  std::vector<std::uint32_t> groups;
  for (const std::uint32_t group : usual->first) {
    if (std::find(groups.begin(), groups.end(), group) == groups.end()) groups.push_back(group);
  }
  return groups.size() < 2 ? std::vector<std::uint32_t>() : groups;
}

}  // namespace

LoopSteps steps_of(const LoopRanges& ranges, const RangeRows& rows) {
  LoopSteps steps;
  const bool evaluates = ranges.has_any(trait_evaluates);
  steps.rows.reserve(rows.size());
  for (const RangeRow row : rows) {
    if (!evaluates || !is_evaluation(ranges, row)) steps.rows.push_back(row);
  }
  if (steps.rows.empty()) steps.rows = rows;  // evaluation is all that it does
  steps.evaluation = rows.size() - steps.rows.size();
  const auto precedes = [&](RangeRow a, RangeRow b) { return ranges.start[a] < ranges.start[b]; };
  if (!std::is_sorted(steps.rows.begin(), steps.rows.end(), precedes)) {
    std::stable_sort(steps.rows.begin(), steps.rows.end(), precedes);
  }
  ThreadOf thread_of(ranges);
  bool is_moved = false;
  for (auto* const column : {&steps.thread, &steps.start, &steps.end}) {
    column->reserve(steps.rows.size());
  }
  for (const RangeRow row : steps.rows) {
    steps.thread.push_back(thread_of(row));
    steps.start.push_back(ranges.start[row]);
    steps.end.push_back(ranges.end[row]);
    steps.is_floating = steps.is_floating || ranges.is_floating(row);
    is_moved = is_moved || (ranges.flags[row] & LoopRanges::elsewhere) != 0;
  }
  for (std::size_t i = 0; is_moved && i < steps.size(); ++i) {
    steps.end_thread.push_back(ranges.end_thread_of(static_cast<std::uint32_t>(steps.thread[i]),
                                                    steps.start[i], steps.end[i]));
  }
  return steps;
}

LoopSteps whole_of(const LoopRanges& ranges, std::uint32_t thread) {
  LoopSteps steps;
  steps.kind = LoopSteps::Kind::whole;
  steps.thread.push_back(thread);
  steps.start.push_back(ranges.first);
  steps.end.push_back(ranges.last);
  return steps;
}

std::optional<LoopCycle> find_cycle(const LoopRanges& ranges, std::uint32_t thread,
                                    const RangeRows* within) {
  const LoopRanges::Rows all = ranges.rows_of(thread);
  for (RangeRow row = all.begin; row < all.end; ++row) {
    if (!ranges.is_floating(row) && ranges.has(row, trait_profile)) return std::nullopt;
  }
  RangeRows rows = siblings_of(ranges, thread, within);
  if (!keep_frequent(ranges, rows)) return std::nullopt;
  std::vector<std::size_t> begins;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (ranges.group[rows[i]] == ranges.group[rows.front()]) begins.push_back(i);
  }
  if (begins.size() < least_rounds) return std::nullopt;
  if (within != nullptr && begins.size() < 2 * within->size()) return std::nullopt;
  LoopCycle cycle;
  cycle.groups = usual_round(ranges, rows, begins);
  if (cycle.groups.empty()) return std::nullopt;
  LoopSteps& steps = cycle.steps;
  steps.kind = LoopSteps::Kind::cycle;
  std::int64_t time = 0, end = ranges.first;
  for (std::size_t i = 0, next = 0; i < rows.size(); ++i) {
    if (next < begins.size() && begins[next] == i) {
      if (next++ != 0) steps.end.push_back(end);
      steps.start.push_back(ranges.start[rows[i]]);
    }
    end = std::max(end, ranges.end[rows[i]]);
    time += ranges.duration(rows[i]);
  }
  steps.end.push_back(end);
  steps.thread.assign(steps.start.size(), thread);
  const auto extent = static_cast<double>(steps.end.back() - steps.start.front());
  if (static_cast<double>(time) < 0.3 * extent) return std::nullopt;
  if (extent < 0.3 * static_cast<double>(ranges.span())) return std::nullopt;
  return cycle;
}

}  // namespace nvspan::reader
