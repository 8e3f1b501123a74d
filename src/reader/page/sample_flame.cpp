// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/page/sample_flame.hpp"

#include "core/memory/path_table.hpp"
#include "reader/page/folding.hpp"
#include "reader/samples/chosen_slots.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::uint32_t most_floors = 256;  // frames below count in the last one

// The tree of one recording's samples. A spot is a line of a node, by way of one spot of each node
// around it: every sample of a spot is at the same lines.
class SampleTree {
 public:
  SampleTree(const Recording& recording, const SampleSums& sums, const LineOptions& options,
             SampleFlame& out)
      : sums_(sums), out_(out), places_(recording, LineKey::function, out.places) {
    const ChosenSlots chosen(recording, sums, options);
    std::vector<SampleTime> of_slot(sums.slots().size());
    for (const auto& block : sums.blocks()) {
      for (const SampleCell& cell : block) of_slot[cell.slot] += cell.time;
    }
    std::vector<std::vector<std::uint32_t>> slots(recording.processes().size());
    for (std::uint32_t i = 0; i < of_slot.size(); ++i) {
      if (!of_slot[i].empty() && chosen.has(i)) slots[sums.slots()[i].process].push_back(i);
    }
    for (std::uint32_t process = 0; process < slots.size(); ++process) {
      if (slots[process].empty()) continue;
      const SampleTables& tables = recording.processes()[process].samples;
      const ShownStacks shown(tables, places_,
                              hidden_codes(recording, tables, options.key, options.hidden));
      core::PathTable roots, stacks;
      for (const std::uint32_t number : slots[process]) {
        const SampleSlot& slot = sums.slots()[number];
        std::uint64_t& root = roots[{slot.thread, 0}];
        if (root == core::PathTable::none) {
          root = out_.roots.size();
          out_.roots.push_back({process, tables.threads[slot.thread].tid});
          spots_.push_back({none, none, 0, {}});
          spot_of_root_.push_back(spots_.size() - 1);
        }
        const std::uint64_t range = spot_of_path(spot_of_root_[root], slot.path);
        spots_[spot_of_stack(tables, shown, stacks, range, slot.stack)].time += of_slot[number];
      }
    }
  }

  // Sums of the nodes and of their lines.
  void finish() {
    std::vector<SampleTime> totals(spots_.size());
    std::vector<SampleFlameLine> lines;
    for (std::size_t i = spots_.size(); i-- > 0;) {
      const Spot& spot = spots_[i];
      totals[i] += spot.time;
      if (spot.parent != none) totals[spot.parent] += totals[i];
      if (spot.node == none) continue;
      SampleFlameNode& node = out_.nodes[spot.node];
      node.total += totals[i];
      node.self += spot.time;
      if (!node.is_range && !totals[i].empty()) {
        lines.push_back({static_cast<std::uint32_t>(spot.node), spot.line, totals[i], spot.time});
      }
    }
    const auto key = [](const SampleFlameLine& line) { return std::tie(line.node, line.line); };
    std::sort(lines.begin(), lines.end(),
              [&](const auto& one, const auto& other) { return key(one) < key(other); });
    for (const SampleFlameLine& line : lines) {
      if (!out_.lines.empty() && key(out_.lines.back()) == key(line)) {
        out_.lines.back().total += line.total;
        out_.lines.back().self += line.self;
      } else {
        out_.lines.push_back(line);
      }
    }
  }

 private:
  static constexpr std::uint64_t none = core::PathTable::none;
  static constexpr std::uint64_t range_bit = std::uint64_t{1} << 63;

  struct Spot {
    std::uint64_t parent;  // a smaller number, of another node
    std::uint64_t node;    // none: that of a root
    std::uint32_t line;
    SampleTime time;
  };

  std::uint64_t spot_of_path(std::uint64_t root, std::uint32_t path) {
    if (path == 0) return root;
    std::uint64_t known = spots_of_paths_[{root, path}];
    if (known != none) return known;
    const RangePaths::Path& range = sums_.paths()[path];
    known = below(spot_of_path(root, range.parent), true, range.name, 0);
    return spots_of_paths_[{root, path}] = known;
  }

  std::uint64_t spot_of_stack(const SampleTables& tables, const ShownStacks& shown,
                              core::PathTable& stacks, std::uint64_t range, std::uint32_t stack) {
    if (stack == 0) return below(range, false, shown.place[0], 0);
    // From the stack outwards to what is known, and back.
    way_.clear();
    std::uint64_t spot = range;
    for (std::uint32_t at = stack; at != 0; at = tables.stacks[at].parent) {
      const std::uint64_t known = stacks[{range, at}];
      if (known != none) {
        spot = known;
        break;
      }
      way_.push_back(at);
    }
    for (; !way_.empty(); way_.pop_back()) {
      const std::uint32_t at = way_.back();
      // What is shown in a stack of hidden frames alone is not shown in those around it.
      if (!shown.is_bare[at] && shown.is_bare[tables.stacks[at].parent]) spot = range;
      if (shown.shows(at, at)) {
        spot = below(spot, false, shown.place[at], tables.frames[tables.stacks[at].frame].line);
      }
      stacks[{range, at}] = spot;
    }
    return spot;
  }

  std::uint64_t below(std::uint64_t parent, bool is_range, std::uint32_t name, std::uint32_t line) {
    std::uint64_t node = spots_[parent].node;
    if (!is_range && node != none && !out_.nodes[node].is_range && out_.nodes[node].name == name) {
      parent = spots_[parent].parent;
      node = spots_[parent].node;
    }
    const std::uint32_t floor = node == none ? 0 : floors_[node] + 1;
    if (floor == most_floors) return parent;
    const std::uint64_t kind = is_range ? range_bit : 0;
    std::uint64_t& known = spots_below_[{parent, kind | std::uint64_t{name} << 32 | line}];
    if (known != none) return known;
    const std::uint64_t root = root_of(parent);
    std::uint64_t& number = nodes_[{node == none ? ~root : node, kind | name}];
    if (number == none) {
      number = out_.nodes.size();
      SampleFlameNode made;
      made.parent = node == none ? -1 : static_cast<std::int64_t>(node);
      made.root = static_cast<std::uint32_t>(root);
      made.is_range = is_range;
      made.name = name;
      out_.nodes.push_back(made);
      floors_.push_back(floor);
    }
    spots_.push_back({parent, number, line, {}});
    return known = spots_.size() - 1;
  }
  std::uint64_t root_of(std::uint64_t spot) const {
    if (spots_[spot].node != none) return out_.nodes[spots_[spot].node].root;
    const auto found = std::lower_bound(spot_of_root_.begin(), spot_of_root_.end(), spot);
    return static_cast<std::uint64_t>(found - spot_of_root_.begin());
  }

  const SampleSums& sums_;
  SampleFlame& out_;
  LinePlaces places_;
  core::LargeVector<Spot> spots_;
  std::vector<std::uint64_t> spot_of_root_;  // each larger than the one before
  std::vector<std::uint32_t> floors_;        // by node
  std::vector<std::uint32_t> way_;
  core::PathTable spots_of_paths_, spots_below_, nodes_;
};

// The lines of nodes that are kept, and of these those with the most time.
void keep_lines(SampleFlame& flame, const std::vector<std::int64_t>& places, std::size_t most) {
  std::vector<SampleFlameLine>& lines = flame.lines;
  const auto is_gone = [&](const SampleFlameLine& line) { return places[line.node] < 0; };
  lines.erase(std::remove_if(lines.begin(), lines.end(), is_gone), lines.end());
  for (SampleFlameLine& line : lines) line.node = static_cast<std::uint32_t>(places[line.node]);
  const auto larger = [](const SampleFlameLine& one, const SampleFlameLine& other) {
    return one.total.all() > other.total.all();
  };
  if (lines.size() > most) {
    const auto end = lines.begin() + static_cast<std::ptrdiff_t>(most);
    std::nth_element(lines.begin(), end, lines.end(), larger);
    lines.erase(end, lines.end());
  }
  const auto before = [&](const SampleFlameLine& one, const SampleFlameLine& other) {
    if (one.node != other.node) return one.node < other.node;
    if (larger(one, other) != larger(other, one)) return larger(one, other);
    return one.line < other.line;
  };
  std::sort(lines.begin(), lines.end(), before);
}

}  // namespace

SampleFlame sample_flame(const Recording& recording, const SampleSums& sums,
                         const LineOptions& options, std::size_t most_nodes,
                         std::size_t most_lines) {
  SampleFlame flame;
  SampleTree(recording, sums, options, flame).finish();
  const std::size_t all = flame.nodes.size();
  const auto time_of = [](const SampleFlameNode& node) {
    return static_cast<std::int64_t>(node.total.all());
  };
  keep_lines(flame, fold_small(flame.nodes, most_nodes, time_of), most_lines);
  flame.folded = all - flame.nodes.size();
  return flame;
}

}  // namespace nvspan::reader
