// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/samples/line_sums.hpp"

#include "core/key_order.hpp"
#include "core/statistics/student_t.hpp"
#include "reader/samples/chosen_slots.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace nvspan::reader {
namespace {

// Adds what each stack has to the places in it, once to each.
void add_totals(const SampleTables& tables, const ShownStacks& shown,
                std::vector<SampleTime>& of_stack, std::vector<LineRow>& rows) {
  const std::size_t count = tables.stacks.size();
  // Children one after the other, by their parents: of i, from first[i] to first[i + 1].
  std::vector<std::uint32_t> first(count + 2), children(count);
  std::vector<bool> is_used(count);
  for (std::size_t i = count; i-- > 1;) {
    const std::uint32_t parent = tables.stacks[i].parent;
    if (!of_stack[i].empty()) is_used[i] = true;
    if (is_used[i]) is_used[parent] = true;
    // What is shown in a stack of hidden frames alone is not shown in those around it.
    if (!shown.is_bare[parent] || shown.is_bare[i]) of_stack[parent] += of_stack[i];
    ++first[parent + 2];
  }
  std::partial_sum(first.begin(), first.end(), first.begin());
  for (std::size_t i = 1; i < count; ++i) {
    children[first[tables.stacks[i].parent + 1]++] = static_cast<std::uint32_t>(i);
  }
  struct Open {
    std::uint32_t stack, next;
  };
  std::vector<Open> path;
  std::vector<std::uint32_t> times_open(rows.size());
  const auto enter = [&](std::uint32_t stack) {
    path.push_back({stack, first[stack]});
    if (shown.shows(stack, stack) && times_open[shown.place[stack]]++ == 0) {
      rows[shown.place[stack]].total += of_stack[stack];
    }
  };
  for (std::uint32_t next = first[0]; next < first[1]; ++next) {
    if (!is_used[children[next]]) continue;
    enter(children[next]);
    while (!path.empty()) {
      Open& open = path.back();
      if (open.next == first[open.stack + 1]) {
        if (shown.shows(open.stack, open.stack)) --times_open[shown.place[open.stack]];
        path.pop_back();
        continue;
      }
      const std::uint32_t child = children[open.next++];
      if (is_used[child]) enter(child);
    }
  }
}

struct Moments {
  double xx = 0, xy = 0;
};

}  // namespace

double share_margin(double x, double y, double xx, double xy, double yy, std::size_t blocks,
                    std::uint64_t samples) {
  constexpr double outside = 0.025;  // on each side
  if (y <= 0 || samples == 0) return 1;
  const double share = x / y;
  // Agresti and Coull: also where all samples are of one kind.
  constexpr double normal = 1.96;
  const double count = static_cast<double>(samples) + normal * normal;
  const double center = (share * static_cast<double>(samples) + normal * normal / 2) / count;
  double margin = normal * std::sqrt(center * (1 - center) / count);
  if (blocks >= 2) {
    const auto number = static_cast<double>(blocks);
    const double squares = std::max(0.0, xx - 2 * share * xy + share * share * yy);
    const double deviation = std::sqrt(squares * number / (number - 1)) / y;
    margin = std::max(margin, core::t_quantile(outside, number - 1) * deviation);
  }
  return std::min(margin, 1.0);
}

LineSums line_sums(const Recording& recording, const SampleSums& sums, const LineOptions& options) {
  LineSums found;
  std::vector<LinePlace> all_places;
  LinePlaces places(recording, options.key, all_places);
  const ChosenSlots chosen(recording, sums, options);
  found.idle_threads = chosen.idle_threads();
  found.idle = chosen.idle();
  std::vector<Moments> moments;
  std::vector<double> of_block;
  std::vector<std::uint32_t> touched;
  double yy = 0;
  for (std::size_t process = 0; process < recording.processes().size(); ++process) {
    const SampleTables& tables = recording.processes()[process].samples;
    if (tables.chunks.empty()) continue;
    const ShownStacks shown(tables, places,
                            hidden_codes(recording, tables, options.key, options.hidden));
    std::vector<SampleTime> of_stack(tables.stacks.size());
    found.rows.resize(all_places.size());
    moments.resize(all_places.size());
    of_block.resize(all_places.size());
    const std::size_t first = process * SampleSums::blocks_of_process;
    for (std::size_t block = first; block < first + SampleSums::blocks_of_process; ++block) {
      double all = 0;
      touched.clear();
      for (const SampleCell& cell : sums.blocks()[block]) {
        if (!chosen.has(cell.slot)) continue;
        const std::uint32_t stack = sums.slots()[cell.slot].stack;
        const std::uint32_t row = shown.self[stack];
        found.rows[row].self += cell.time;
        found.all += cell.time;
        of_stack[stack] += cell.time;
        const auto ns = static_cast<double>(cell.time.all());
        if (of_block[row] == 0) touched.push_back(row);
        of_block[row] += ns;
        all += ns;
      }
      if (all == 0) continue;
      ++found.blocks;
      yy += all * all;
      for (const std::uint32_t row : touched) {
        moments[row].xx += of_block[row] * of_block[row];
        moments[row].xy += of_block[row] * all;
        of_block[row] = 0;
      }
    }
    found.rows[shown.place[0]].total += of_stack[0];
    add_totals(tables, shown, of_stack, found.rows);
  }
  const auto y = static_cast<double>(found.all.all());
  for (std::size_t i = 0; i < found.rows.size(); ++i) {
    LineRow& row = found.rows[i];
    row.place = all_places[i];
    row.margin = share_margin(static_cast<double>(row.self.all()), y, moments[i].xx, moments[i].xy,
                              yy, found.blocks, found.all.samples);
  }
  const auto is_empty = [](const LineRow& row) { return row.total.empty() && row.self.empty(); };
  found.rows.erase(std::remove_if(found.rows.begin(), found.rows.end(), is_empty),
                   found.rows.end());
  core::stable_sort_by(found.rows.begin(), found.rows.end(),
                       [](const LineRow& row) { return ~row.total.all(); });
  core::stable_sort_by(found.rows.begin(), found.rows.end(),
                       [](const LineRow& row) { return ~row.self.all(); });
  return found;
}

std::vector<SampleTime> path_times(const SampleSums& sums) {
  std::vector<SampleTime> times(sums.paths().size());
  for (const auto& block : sums.blocks()) {
    for (const SampleCell& cell : block) times[sums.slots()[cell.slot].path] += cell.time;
  }
  return times;
}

FoldedStacks folded_stacks(const Recording& recording, const SampleSums& sums,
                           const LineOptions& options) {
  FoldedStacks found;
  LinePlaces places(recording, LineKey::function, found.places);
  const ChosenSlots chosen(recording, sums, options);
  std::map<std::pair<std::uint32_t, std::vector<std::uint32_t>>, SampleTime> merged;
  for (std::size_t process = 0; process < recording.processes().size(); ++process) {
    const SampleTables& tables = recording.processes()[process].samples;
    if (tables.chunks.empty()) continue;
    const ShownStacks shown(tables, places,
                            hidden_codes(recording, tables, options.key, options.hidden));
    std::map<std::pair<std::uint32_t, std::uint32_t>, SampleTime> times;
    const std::size_t first = process * SampleSums::blocks_of_process;
    for (std::size_t block = first; block < first + SampleSums::blocks_of_process; ++block) {
      for (const SampleCell& cell : sums.blocks()[block]) {
        const SampleSlot& slot = sums.slots()[cell.slot];
        if (chosen.has(cell.slot)) times[{slot.path, slot.stack}] += cell.time;
      }
    }
    for (const auto& [key, time] : times) {
      std::vector<std::uint32_t> frames;
      for (std::uint32_t at = key.second; at != 0; at = tables.stacks[at].parent) {
        if (shown.shows(at, key.second)) frames.push_back(shown.place[at]);
      }
      std::reverse(frames.begin(), frames.end());
      merged[{key.first, std::move(frames)}] += time;
    }
  }
  for (const auto& [key, time] : merged) {
    found.stacks.push_back(FoldedStack{key.first, key.second, time});
  }
  return found;
}

}  // namespace nvspan::reader
