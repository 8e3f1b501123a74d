// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/page/sample_flame.hpp"

#include "core/memory/path_table.hpp"
#include "reader/page/folding.hpp"
#include "reader/samples/chosen_slots.hpp"
#include "reader/samples/share_blocks.hpp"

#include <algorithm>
#include <functional>
#include <tuple>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::uint32_t most_floors = 256;  // frames below count in the last one

// A line of a node, by way of one spot of each node around it: every sample of a spot is at the
// same lines.
struct SampleSpot {
  std::uint64_t parent;  // a smaller number, of another node
  std::uint64_t node;    // PathTable::none: that of a root
  std::uint32_t line;
  SampleTime time;
};

// The tree of one recording's samples.
class SampleTree {
 public:
  SampleTree(const Recording& recording, const SampleSums& sums, const LineOptions& options,
             SampleFlame& out)
      : sums_(sums),
        out_(out),
        places_(recording, LineKey::function, out.places),
        spot_of_slot_(sums.slots().size(), none) {
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
      first_spots_.push_back(spots_.size());
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
        const std::uint64_t spot = spot_of_stack(tables, shown, stacks, range, slot.stack);
        spot_of_slot_[number] = spot;
        spots_[spot].time += of_slot[number];
      }
    }
    first_spots_.push_back(spots_.size());
  }

  // Sums of the nodes and of their lines.
  void finish() {
    std::vector<SampleTime> totals(spots_.size());
    std::vector<SampleFlameLine> lines;
    for (std::size_t i = spots_.size(); i-- > 0;) {
      const SampleSpot& spot = spots_[i];
      totals[i] += spot.time;
      if (spot.parent != none) totals[spot.parent] += totals[i];
      if (spot.node == none) continue;
      SampleFlameNode& node = out_.nodes[spot.node];
      node.total += totals[i];
      node.self += spot.time;
      if (!node.is_range && !totals[i].empty()) {
        lines.push_back(
            {static_cast<std::uint32_t>(spot.node), spot.line, totals[i], spot.time, 1});
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

  const core::LargeVector<SampleSpot>& spots() const { return spots_; }
  // Those of each process, one process after the other.
  const std::vector<std::size_t>& first_spots() const { return first_spots_; }
  const std::vector<std::uint64_t>& spot_of_slot() const { return spot_of_slot_; }

 private:
  static constexpr std::uint64_t none = core::PathTable::none;
  static constexpr std::uint64_t range_bit = std::uint64_t{1} << 63;

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
  core::LargeVector<SampleSpot> spots_;
  std::vector<std::size_t> first_spots_;
  std::vector<std::uint64_t> spot_of_slot_;
  std::vector<std::uint64_t> spot_of_root_;  // each larger than the one before
  std::vector<std::uint32_t> floors_;        // by node
  std::vector<std::uint32_t> way_;
  core::PathTable spots_of_paths_, spots_below_, nodes_;
};

// The intervals of lines' shares: nodes of all threads with the same path are one whole here.
class FlameMargins {
 public:
  FlameMargins(const SampleSums& sums, const SampleTree& tree, SampleFlame& out)
      : sums_(sums), tree_(tree), out_(out) {
    number_wholes();
    parts_of_spots_.resize(tree.spots().size());
    for (std::size_t process = 0; process + 1 < tree.first_spots().size(); ++process) {
      add_process(process);
    }
  }

  void write() {
    for (SampleFlameLine& line : out_.lines) {
      const std::uint32_t whole = wholes_[line.node];
      line.margin = margin(part_of(whole, line.line), whole);
    }
    const auto key = [&](const Hot& one) {
      return std::make_tuple(one.whole, -shares_.part_time(one.part), one.part);
    };
    std::sort(hot_.begin(), hot_.end(),
              [&](const Hot& a, const Hot& b) { return key(a) < key(b); });
    std::size_t count = 0;
    for (std::size_t i = 0; i < hot_.size(); ++i) {
      const Hot& one = hot_[i];
      count = i != 0 && hot_[i - 1].whole == one.whole ? count + 1 : 0;
      if (count >= SampleFlame::most_hottest) continue;
      out_.hottest.push_back(
          {firsts_[one.whole], one.place, one.line, margin(one.part, one.whole)});
    }
  }

 private:
  static constexpr std::uint64_t none = core::PathTable::none;
  static constexpr std::uint64_t hot_bit = std::uint64_t{1} << 63;
  static constexpr std::uint32_t no_part = 0xFFFFFFFF;
  static constexpr std::uint32_t all = 0;  // the whole of everything

  struct Hot {
    std::uint32_t part, whole, place, line;
  };
  struct Parts {
    std::uint32_t total = no_part, hot = no_part;
  };

  void number_wholes() {
    shares_.add_whole();
    firsts_.push_back(-1);
    samples_.push_back(0);
    core::PathTable numbers;
    for (std::size_t i = 0; i < out_.nodes.size(); ++i) {
      const SampleFlameNode& node = out_.nodes[i];
      const bool is_top = node.parent < 0;
      const auto parent = static_cast<std::size_t>(node.parent);
      const std::uint64_t kind = node.is_range ? hot_bit : 0;
      std::uint64_t& number = numbers[{is_top ? all : wholes_[parent], kind | node.name}];
      if (number == none) {
        number = shares_.add_whole();
        firsts_.push_back(static_cast<std::int64_t>(i));
        samples_.push_back(0);
      }
      wholes_.push_back(static_cast<std::uint32_t>(number));
      samples_[number] += node.total.samples;
      if (is_top) samples_[all] += node.total.samples;
    }
  }

  void add_process(std::size_t process) {
    const auto& spots = tree_.spots();
    const std::size_t begin = tree_.first_spots()[process];
    const std::size_t end = tree_.first_spots()[process + 1];
    if (begin == end) return;
    std::vector<double> times(end - begin);
    const std::size_t first = process * SampleSums::blocks_of_process;
    for (std::size_t block = first; block < first + SampleSums::blocks_of_process; ++block) {
      for (const SampleCell& cell : sums_.blocks()[block]) {
        const std::uint64_t spot = tree_.spot_of_slot()[cell.slot];
        if (spot == none) continue;
        const auto ns = static_cast<double>(cell.time.all());
        times[spot - begin] += ns;
        shares_.take_whole(all, ns);
        for (std::uint32_t part = hot_of(spot); part != no_part; part = around_[part]) {
          shares_.take_part(part, ns);
        }
      }
      for (std::size_t i = end; i-- > begin;) {
        const double ns = std::exchange(times[i - begin], 0);
        const SampleSpot& spot = spots[i];
        if (ns == 0 || spot.node == none) continue;
        times[spot.parent - begin] += ns;
        shares_.take_whole(wholes_[spot.node], ns);
        if (!out_.nodes[spot.node].is_range) shares_.take_part(total_of(i), ns);
      }
      shares_.end_block();
    }
  }

  std::uint32_t total_of(std::size_t spot) {
    std::uint32_t& known = parts_of_spots_[spot].total;
    if (known != no_part) return known;
    const SampleSpot& of = tree_.spots()[spot];
    return known = part_of(wholes_[of.node], of.line);
  }
  std::uint32_t part_of(std::uint32_t whole, std::uint32_t line) {
    std::uint64_t& part = parts_[{whole, line}];
    if (part == none) part = add_part(whole, no_part);
    return static_cast<std::uint32_t>(part);
  }
  std::uint32_t hot_of(std::uint64_t spot) {
    std::uint32_t& known = parts_of_spots_[spot].hot;
    if (known != no_part) return known;
    const SampleSpot& of = tree_.spots()[spot];
    if (of.node == none || out_.nodes[of.node].is_range) return no_part;
    return known = hot_within(of.node, out_.nodes[of.node].name, of.line);
  }
  // Within the innermost range that is this node or around it.
  std::uint32_t hot_within(std::uint64_t node, std::uint32_t place, std::uint32_t line) {
    while (node != none && !out_.nodes[node].is_range) node = parent_of(node);
    const std::uint32_t whole = node == none ? all : wholes_[node];
    const core::PathKey key{whole, hot_bit | std::uint64_t{place} << 32 | line};
    if (parts_[key] != none) return static_cast<std::uint32_t>(parts_[key]);
    const std::uint32_t around = node == none ? no_part : hot_within(parent_of(node), place, line);
    const std::uint32_t part = add_part(whole, around);
    parts_[key] = part;
    hot_.push_back({part, whole, place, line});
    return part;
  }
  std::uint32_t add_part(std::uint32_t whole, std::uint32_t around) {
    around_.push_back(around);
    return shares_.add_part(whole);
  }
  std::uint64_t parent_of(std::uint64_t node) const {
    const std::int64_t parent = out_.nodes[node].parent;
    return parent < 0 ? none : static_cast<std::uint64_t>(parent);
  }
  double margin(std::uint32_t part, std::uint32_t whole) const {
    return shares_.margin(part, samples_[whole]);
  }

  const SampleSums& sums_;
  const SampleTree& tree_;
  SampleFlame& out_;
  ShareBlocks shares_;
  std::vector<std::uint32_t> wholes_;   // by node
  std::vector<std::int64_t> firsts_;    // of each whole: its first node
  std::vector<std::uint64_t> samples_;  // likewise
  core::PathTable parts_;
  std::vector<std::uint32_t> around_;  // of a part that is a hot line: the same in the range around
  std::vector<Hot> hot_;
  std::vector<Parts> parts_of_spots_;
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

void keep_hottest(SampleFlame& flame, const std::vector<std::int64_t>& places) {
  std::vector<SampleFlameHot>& lines = flame.hottest;
  const auto is_gone = [&](const SampleFlameHot& one) {
    return one.node >= 0 && places[static_cast<std::size_t>(one.node)] < 0;
  };
  lines.erase(std::remove_if(lines.begin(), lines.end(), is_gone), lines.end());
  for (SampleFlameHot& one : lines) {
    if (one.node >= 0) one.node = places[static_cast<std::size_t>(one.node)];
  }
}

}  // namespace

SampleFlame sample_flame(const Recording& recording, const SampleSums& sums,
                         const LineOptions& options, std::size_t most_nodes,
                         std::size_t most_lines) {
  SampleFlame flame;
  SampleTree tree(recording, sums, options, flame);
  tree.finish();
  FlameMargins(sums, tree, flame).write();
  const std::size_t all = flame.nodes.size();
  const auto time_of = [](const SampleFlameNode& node) {
    return static_cast<std::int64_t>(node.total.all());
  };
  const std::vector<std::int64_t> kept = fold_small(flame.nodes, most_nodes, time_of);
  keep_lines(flame, kept, most_lines);
  keep_hottest(flame, kept);
  flame.folded = all - flame.nodes.size();
  return flame;
}

}  // namespace nvspan::reader
