// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/samples/line_sums.hpp"

#include "core/key_order.hpp"
#include "core/memory/path_table.hpp"
#include "reader/samples/chosen_slots.hpp"
#include "reader/samples/share_blocks.hpp"

#include <algorithm>
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

// The time of rows in each C function.
class CFunctionSums {
 public:
  void add(std::uint32_t row, std::int32_t c_function, std::uint64_t ns) {
    if (c_function == no_name) return;
    std::uint64_t& number = numbers_[{row, static_cast<std::uint32_t>(c_function)}];
    if (number == core::PathTable::none) {
      number = sums_.size();
      sums_.push_back({row, c_function, 0});
    }
    sums_[number].ns += ns;
  }
  void give(std::vector<LineRow>& rows) const {
    for (const Sum& sum : sums_) {
      LineRow& row = rows[sum.row];
      if (2 * sum.ns > row.self.all()) row.c_function = sum.c_function;
    }
  }

 private:
  struct Sum {
    std::uint32_t row;
    std::int32_t c_function;
    std::uint64_t ns;
  };
  core::PathTable numbers_;
  std::vector<Sum> sums_;
};

}  // namespace

LineSums line_sums(const Recording& recording, const SampleSums& sums, const LineOptions& options) {
  LineSums found;
  std::vector<LinePlace> all_places;
  LinePlaces places(recording, options.key, all_places);
  const ChosenSlots chosen(recording, sums, options);
  found.idle_threads = chosen.idle_threads();
  found.idle = chosen.idle();
  ShareBlocks shares;
  const std::uint32_t whole = shares.add_whole();
  CFunctionSums c_functions;
  for (std::size_t process = 0; process < recording.processes().size(); ++process) {
    const SampleTables& tables = recording.processes()[process].samples;
    if (tables.chunks.empty()) continue;
    const ShownStacks shown(tables, places,
                            hidden_codes(recording, tables, options.key, options.hidden));
    std::vector<SampleTime> of_stack(tables.stacks.size());
    while (found.rows.size() < all_places.size()) {
      found.rows.emplace_back();
      shares.add_part(whole);
    }
    const std::size_t first = process * SampleSums::blocks_of_process;
    for (std::size_t block = first; block < first + SampleSums::blocks_of_process; ++block) {
      for (const SampleCell& cell : sums.blocks()[block]) {
        if (!chosen.has(cell.slot)) continue;
        const std::uint32_t stack = sums.slots()[cell.slot].stack;
        const std::uint32_t row = shown.self[stack];
        found.rows[row].self += cell.time;
        c_functions.add(row, tables.frames[tables.stacks[stack].frame].c_function, cell.time.all());
        found.all += cell.time;
        of_stack[stack] += cell.time;
        const auto ns = static_cast<double>(cell.time.all());
        shares.take_part(row, ns);
        shares.take_whole(whole, ns);
      }
      shares.end_block();
    }
    found.rows[shown.place[0]].total += of_stack[0];
    add_totals(tables, shown, of_stack, found.rows);
  }
  c_functions.give(found.rows);
  for (std::uint32_t i = 0; i < found.rows.size(); ++i) {
    found.rows[i].place = all_places[i];
    found.rows[i].margin = shares.margin(i, found.all.samples);
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
