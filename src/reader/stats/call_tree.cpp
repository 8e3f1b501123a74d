// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/stats/call_tree.hpp"

#include "core/memory/path_table.hpp"
#include "reader/file/recording.hpp"
#include "reader/scan/device_rows.hpp"
#include "reader/scan/range_scan.hpp"
#include "reader/stats/coverage.hpp"
#include "reader/stats/stretches.hpp"

#include <algorithm>
#include <unordered_map>
#include <utility>

namespace nvspan::reader {
namespace {

class TreeBuilder : public RangeScan<TreeBuilder, true> {
 public:
  TreeBuilder(const Recording& recording, const Selection& selection, CallTree& out)
      : RangeScan(recording, selection), out_(out), devices_(recording) {
    last_.resize(recording.sites().size());
  }

  // A push range's node travels in it.
  [[gnu::always_inline]] std::uint64_t open(const PushRange& range, std::uint64_t parent,
                                            const EntryPayload& payload) {
    Last& last = last_[range.site];
    if (__builtin_expect(last.parent != parent, 0)) {
      if (recording_.sites()[range.site].stretch == StretchKind::unfinished) {
        stretches_.open(payload);
        return reinterpret_cast<std::uintptr_t>(&no_node_) | of_stretch;
      }
      last.node =
          &node(range.site, RangeKind::push_pop, parent == no_row ? nullptr : at(parent), -1);
      if (std::exchange(last.node->last_thread, thread_) != thread_) {
        last.node->threads.insert(thread_);
      }
      last.parent = parent;
      last.is_stretch = recording_.sites()[range.site].stretch != StretchKind::none;
      last.node->is_resumable |= last.is_stretch;
    }
    last.node->outermost.open();
    const auto address = reinterpret_cast<std::uintptr_t>(last.node);
    if (__builtin_expect(!last.is_stretch, 1)) return address;
    stretches_.open(payload);
    return address | of_stretch;
  }
  [[gnu::always_inline]] void ended(const ScannedRange& range) {
    if (range.kind != RangeKind::push_pop) return end_started(range);
    CallNode& node = *at(range.row);
    const std::int64_t duration = std::max<std::int64_t>(range.end - range.start, 0);
    if (__builtin_expect((range.row & of_stretch) != 0, 0)) {
      if (&node == &no_node_) return stretches_.close(recording_, range, 0);
      stretches_.close(recording_, range, range.row & ~of_stretch);
    } else if (__builtin_expect(range.reason == EndReason::closed, 1)) {
      count_call(node, duration);
    }
    if (__builtin_expect(range.reason == EndReason::lost, 0)) return node.outermost.drop();
    if (__builtin_expect(range.reason != EndReason::closed, 0)) return add_open(node, range);
    node.sum += static_cast<double>(duration);
    node.self += range.self;
    node.outermost.close(static_cast<double>(duration), 0);
  }
  void begin_thread(std::uint32_t thread) {
    std::fill(last_.begin(), last_.end(), Last{});
    coverage_.begin_thread(thread);
    stretches_.begin_thread();
  }
  std::uint64_t opened(const ScannedRange& range, std::uint64_t, std::uint64_t,
                       const EntryPayload&) {
    if (started_.empty() && ended_.empty()) coverage_.all_ended(range.start);
    return no_row;
  }
  void end_process(std::uint32_t) {
    nest_devices();
    stretches_.finish(
        [](std::uint64_t row, std::int64_t awaited) {
          ++at(row)->resumptions;
          at(row)->awaited += std::max<std::int64_t>(awaited, 0);
          if (awaited < 0) ++at(row)->unknown_awaits;
        },
        [](std::uint64_t row, std::int64_t awaited) { at(row)->awaited += awaited; },
        [](std::uint64_t row, std::int64_t running) { count_call(*at(row), running); });
  }
  void finish() {
    coverage_.finish(
        [this](std::uint64_t node, std::int64_t time) { out_.nodes[node]->covered += time; });
    for (Coverage& lane : lane_coverage_) out_.lane_covered.push_back(lane.time());
  }

 private:
  static constexpr std::uint64_t all_devices = ~std::uint64_t{0};  // in place of a thread

  struct Last {
    std::uint64_t parent = 0;  // no node's address, and not no_row
    CallNode* node = nullptr;
    bool is_stretch = false;
  };
  static constexpr std::uint64_t of_stretch = 1;       // in the row of a range: it is a stretch
  static constexpr std::size_t most_device_rows = 64;  // of ranges that overlap in one stream

  static constexpr std::size_t most_looked = 2000;  // of the names in a path

  static CallNode* at(std::uint64_t address) {
    return reinterpret_cast<CallNode*>(static_cast<std::uintptr_t>(address & ~of_stretch));
  }

  [[gnu::noinline]] void end_started(const ScannedRange& range) {
    if (range.kind == RangeKind::device) {
      devices_.add(recording_.threads()[range.thread].process, range);
      return;
    }
    CallNode& of = node(range.site, range.kind, nullptr, -1);
    of.threads.insert(range.thread);
    if (range.reason == EndReason::closed) {
      count_call(of, range.self);
      of.sum += static_cast<double>(range.self);
      of.self += range.self;
    } else {
      of.outermost.open();
      add_open(of, range);
    }
    coverage_.add_span(static_cast<std::uint64_t>(of.index), range);
  }
  [[gnu::noinline]] static void add_open(CallNode& node, const ScannedRange& range) {
    ++node.unclosed;
    node.self += range.self;
    node.outermost.stay({static_cast<double>(range.end - range.start), 0});
  }

  [[gnu::always_inline]] static void count_call(CallNode& node, std::int64_t duration) {
    ++node.calls;
    node.shortest = std::min(node.shortest, duration);
    node.longest = std::max(node.longest, duration);
    if (node.durations != nullptr) node.durations->add(static_cast<std::uint64_t>(duration));
  }

  // Ranges of a stream nest as those of a thread do.
  void nest_devices() {
    std::vector<std::pair<CallNode*, std::size_t>> open;  // with their spans
    for (const DeviceRow& row : devices_.arrange(most_device_rows)) {
      const std::int64_t lane = lane_of(devices_.lane(row.lane));
      for (const DeviceStep& step : row.steps) {
        const DeviceSpan& span = devices_.spans()[step.span];
        if (step.is_begin) {
          CallNode* const around = open.empty() ? nullptr : open.back().first;
          open.emplace_back(&node(span.site, RangeKind::device, around, lane), step.span);
          open.back().first->outermost.open();
          continue;
        }
        CallNode& of = *open.back().first;
        open.pop_back();
        if (span.reason != EndReason::closed) {
          ++of.unclosed;
          of.outermost.drop();
          continue;
        }
        count_call(of, span.took);
        of.sum += static_cast<double>(span.took);
        of.self += span.took;
        coverage_.add(static_cast<std::uint64_t>(of.index), all_devices, span.start,
                      span.start + span.took);
        lane_coverage_[static_cast<std::size_t>(lane)].add(span.start, span.start + span.took);
        of.outermost.close(static_cast<double>(span.took), 0);
        if (open.empty()) continue;
        const DeviceSpan& around = devices_.spans()[open.back().second];
        open.back().first->self -= std::min(span.took, around.took);
      }
    }
    devices_.clear();
  }
  std::int64_t lane_of(const DeviceLane& lane) {
    const std::string label = lane_label(recording_, lane);
    const auto found = std::find(out_.lanes.begin(), out_.lanes.end(), label);
    const auto number = found - out_.lanes.begin();
    if (found == out_.lanes.end()) {
      out_.lanes.push_back(label);
      lane_coverage_.emplace_back();
    }
    return number;
  }

  [[gnu::noinline]] CallNode& node(std::uint32_t site, RangeKind kind, CallNode* parent,
                                   std::int64_t lane) {
    const ReadSite& read = recording_.sites()[site];
    const std::int64_t from = parent == nullptr ? -2 - lane : parent->index;  // a lane is a root
    CallNode*& known =
        paths_[core::PathKey{static_cast<std::uint64_t>(from), pass_key(read, kind)}];
    if (known != nullptr) return *known;
    std::size_t looked = 0;
    for (CallNode* around = parent; around != nullptr && looked < most_looked; ++looked) {
      if (around->domain == read.domain && around->name == read.name && around->kind == kind &&
          around->backward == read.backward) {
        return *(known = around);
      }
      around =
          around->parent < 0 ? nullptr : out_.nodes[static_cast<std::size_t>(around->parent)].get();
    }
    known = out_.nodes.emplace_back(std::make_unique<CallNode>()).get();
    known->index = static_cast<std::int64_t>(out_.nodes.size()) - 1;
    known->parent = parent == nullptr ? -1 : parent->index;
    known->domain = read.domain;
    known->name = read.name;
    known->kind = kind;
    known->backward = read.backward;
    known->lane = lane;
    known->site = site;
    if (out_.nodes.size() <= CallTree::most_distributions) {
      known->durations = std::make_unique<core::LogHistogram>();
    }
    return *known;
  }

  CallTree& out_;
  DeviceRows devices_;
  RowCoverage coverage_;    // of spans and device ranges, by node
  StretchCalls stretches_;  // of the process
  CallNode no_node_;        // of a stretch that only ends a call
  std::vector<Coverage> lane_coverage_;
  std::vector<Last> last_;
  std::unordered_map<core::PathKey, CallNode*, core::PathHash> paths_;
};

// Leaves those that the selection takes by name, and what is around them.
void keep_selected(CallTree& tree, const Selection& selection) {
  std::vector<bool> kept(tree.nodes.size(), false);
  for (std::size_t i = kept.size(); i-- > 0;) {
    const CallNode& node = *tree.nodes[i];
    if (selection.takes_site(node.site)) kept[i] = true;
    if (kept[i] && node.parent >= 0) kept[static_cast<std::size_t>(node.parent)] = true;
  }
  std::vector<std::unique_ptr<CallNode>> nodes;
  std::vector<std::int64_t> places(kept.size(), -1);
  for (std::size_t i = 0; i < kept.size(); ++i) {
    if (!kept[i]) continue;
    CallNode& node = *tree.nodes[i];
    node.index = places[i] = static_cast<std::int64_t>(nodes.size());
    if (node.parent >= 0) node.parent = places[static_cast<std::size_t>(node.parent)];
    nodes.push_back(std::move(tree.nodes[i]));
  }
  tree.nodes = std::move(nodes);
}

class DurationCollector : public RangeScan<DurationCollector> {
 public:
  DurationCollector(const Recording& recording, const Selection& selection)
      : RangeScan(recording, selection) {
    rows_of_site_.resize(range_kinds * recording.sites().size(), 0);
  }

  void ended(const ScannedRange& range) {
    const bool closed = range.reason == EndReason::closed;
    if (!closed && !unclosed_end) return;
    const RangeKind kind = range.kind == RangeKind::device ? RangeKind::start_end : range.kind;
    std::size_t& cached = rows_of_site_[range_kinds * range.site + static_cast<std::size_t>(kind)];
    if (cached == 0) {
      const ReadSite& read = recording_.sites()[range.site];
      const auto found = rows_of_name_.emplace(name_key(read, kind), rows.size());
      if (found.second) rows.push_back(Durations{read.domain, read.name, kind, {}});
      cached = found.first->second + 1;
    }
    const std::int64_t end = closed ? range.end : *unclosed_end;
    rows[cached - 1].ns.push_back(std::max<std::int64_t>(end - range.start, 0));
  }

  std::optional<std::int64_t> unclosed_end;
  std::vector<Durations> rows;

 private:
  std::vector<std::size_t> rows_of_site_;  // plus one
  std::unordered_map<std::uint64_t, std::size_t> rows_of_name_;
};

}  // namespace

CallTree call_tree(const Recording& recording, const Selection& selection, bool ancestors) {
  CallTree tree;
  Selection scanned = selection;
  if (ancestors) scanned.sites.clear();
  TreeBuilder builder(recording, scanned, tree);
  builder.run();
  builder.finish();
  if (ancestors && !selection.sites.empty()) keep_selected(tree, selection);
  return tree;
}

std::vector<Durations> all_durations(const Recording& recording, const Selection& selection,
                                     std::optional<std::int64_t> unclosed_end) {
  DurationCollector collector(recording, selection);
  collector.unclosed_end = unclosed_end;
  collector.run();
  for (Durations& row : collector.rows) std::sort(row.ns.begin(), row.ns.end());
  return std::move(collector.rows);
}

}  // namespace nvspan::reader
