// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/page/flame.hpp"

#include "core/memory/path_table.hpp"
#include "reader/file/recording.hpp"
#include "reader/page/folding.hpp"
#include "reader/scan/device_rows.hpp"
#include "reader/scan/range_scan.hpp"

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

namespace nvspan::reader {
namespace {

class FlameScan : public RangeScan<FlameScan, true> {
 public:
  FlameScan(const Recording& recording, const Selection& selection,
            std::vector<FlameWindow> windows, Flame& out)
      : RangeScan(recording, selection),
        out_(out),
        windows_(std::move(windows)),
        devices_(recording) {
    const auto earlier = [](const FlameWindow& a, const FlameWindow& b) {
      return begin_of(a) < begin_of(b);
    };
    if (!std::is_sorted(windows_.begin(), windows_.end(), earlier)) {
      std::sort(windows_.begin(), windows_.end(), earlier);
    }
    for (const ReadSite& site : recording.sites()) keys_.push_back(pass_key(site, RangeKind{}));
  }

  std::uint64_t open(const PushRange& range, std::uint64_t parent, const EntryPayload&) {
    const std::int64_t group = group_at(time(range.start));
    if (group < 0) return no_row;
    const std::uint64_t node = node_of(static_cast<std::uint32_t>(group), thread_root, {}, parent,
                                       range.site, RangeKind::push_pop);
    ++open_[node];
    return node;
  }
  void ended(const ScannedRange& range) {
    if (range.kind == RangeKind::device) {
      devices_.add(recording_.threads()[range.thread].process, range);
    } else if (range.kind == RangeKind::start_end) {
      add_span(range);
    } else if (range.row != no_row) {
      count(range.row, range.end - range.start, range.self, range.reason);
    }
  }
  void end_process(std::uint32_t) { nest_devices(); }

 private:
  static constexpr std::int64_t thread_root = -1, span_root = -2, device_root = -3;
  static constexpr std::size_t most_device_rows = 64;  // of ranges that overlap in one stream
  static constexpr std::size_t most_looked = 2000;     // of the names in a path

  std::uint32_t process() const {
    return static_cast<std::uint32_t>(process_ - recording_.processes().data());
  }
  // The window that begins last before a moment is the only one that may hold it. -1: none does.
  std::int64_t group_at(std::int64_t at) {
    if (windows_.empty()) return 0;
    const auto wanted = std::make_pair(process(), at);
    const auto begins_later = [&](std::size_t i) {
      return i >= windows_.size() || wanted < begin_of(windows_[i]);
    };
    // Most ranges begin in the window of the one before, or in the next.
    if (!begins_later(window_ + 1) && begins_later(window_ + 2)) ++window_;
    if (begins_later(window_) || !begins_later(window_ + 1)) {
      const auto next = std::upper_bound(
          windows_.begin(), windows_.end(), wanted,
          [](const auto& value, const FlameWindow& each) { return value < begin_of(each); });
      if (next == windows_.begin()) return -1;
      window_ = static_cast<std::size_t>(next - windows_.begin()) - 1;
    }
    const FlameWindow& window = windows_[window_];
    const bool holds = window.process == wanted.first && at < window.end;
    return holds ? static_cast<std::int64_t>(window.group) : -1;
  }
  static std::pair<std::uint32_t, std::int64_t> begin_of(const FlameWindow& window) {
    return {window.process, window.start};
  }

  void add_span(const ScannedRange& range) {
    const std::int64_t group = group_at(range.start);
    if (group < 0) return;
    const std::uint64_t node =
        node_of(static_cast<std::uint32_t>(group), span_root, {}, no_row, range.site, range.kind);
    ++open_[node];
    count(node, range.end - range.start, range.end - range.start, range.reason);
  }
  void count(std::uint64_t number, std::int64_t duration, std::int64_t self, EndReason reason) {
    FlameNode& node = out_.nodes[number];
    if (reason == EndReason::lost) {  // it ended where events are missing
      --open_[number];
      return;
    }
    duration = std::max<std::int64_t>(duration, 0);
    ++(reason == EndReason::closed ? node.calls : node.unclosed);
    node.self += self;
    if (--open_[number] == 0) node.total += duration;
  }

  // Ranges of a stream nest as those of a thread do.
  void nest_devices() {
    std::vector<std::pair<std::uint64_t, std::size_t>> open;  // nodes with their spans
    for (const DeviceRow& row : devices_.arrange(most_device_rows)) {
      const std::string label = lane_label(recording_, devices_.lane(row.lane));
      for (const DeviceStep& step : row.steps) {
        const DeviceSpan& span = devices_.spans()[step.span];
        const std::int64_t group =
            group_at(span.call.launched == 0 ? span.start : time(span.call.launched));
        if (group < 0) continue;
        if (step.is_begin) {
          const std::uint64_t around = open.empty() ? no_row : open.back().first;
          const std::uint64_t node = node_of(static_cast<std::uint32_t>(group), device_root, label,
                                             around, span.site, RangeKind::device);
          ++open_[node];
          open.emplace_back(node, step.span);
          continue;
        }
        const std::uint64_t node = open.back().first;
        open.pop_back();
        count(node, span.took, span.took, span.reason);
        if (open.empty()) continue;
        const DeviceSpan& around = devices_.spans()[open.back().second];
        out_.nodes[open.back().first].self -= std::min(span.took, around.took);
      }
      open.clear();
    }
    devices_.clear();
  }

  std::uint32_t root_of(std::uint32_t group, std::int64_t what, const std::string& device) {
    const std::int64_t thread = what == thread_root ? static_cast<std::int64_t>(thread_) : what;
    const auto found = roots_.emplace(std::make_tuple(group, process(), thread, device),
                                      static_cast<std::uint32_t>(out_.roots.size()));
    if (found.second) {
      out_.roots.push_back(FlameRoot{group, process(), what == thread_root ? thread : -1,
                                     what == span_root, device});
    }
    return found.first->second;
  }
  std::uint64_t subject(std::uint32_t site, RangeKind kind) const {
    return keys_[site] | static_cast<std::uint64_t>(kind);
  }
  std::uint64_t node_of(std::uint32_t group, std::int64_t what, const std::string& device,
                        std::uint64_t parent, std::uint32_t site, RangeKind kind) {
    if (parent != no_row && out_.roots[out_.nodes[parent].root].group != group) parent = no_row;
    const std::uint64_t wanted = subject(site, kind);
    std::uint32_t root = 0;
    core::PathKey path{parent, wanted};  // from a node, or past them a root
    if (parent == no_row) {
      root = root_of(group, what, device);
      path.from = ~std::uint64_t{root};
    }
    std::uint64_t& number = paths_[path];
    if (number != core::PathTable::none) return number;
    std::int64_t around = parent == no_row ? -1 : static_cast<std::int64_t>(parent);
    const std::int64_t directly = around;
    for (std::size_t looked = 0; around >= 0 && looked < most_looked; ++looked) {
      const FlameNode& node = out_.nodes[static_cast<std::size_t>(around)];
      if (subject(node.site, node.kind) == wanted) {
        return number = static_cast<std::uint64_t>(around);
      }
      around = node.parent;
    }
    FlameNode made;
    made.parent = directly;
    made.root = directly < 0 ? root : out_.nodes[static_cast<std::size_t>(directly)].root;
    made.site = site;
    made.kind = kind;
    out_.nodes.push_back(made);
    open_.push_back(0);
    return number = out_.nodes.size() - 1;
  }

  Flame& out_;
  std::vector<FlameWindow> windows_;
  std::size_t window_ = 0;  // the last that was looked at
  DeviceRows devices_;
  core::LargeVector<std::uint32_t>
      open_;  // by node: of its ranges, how many are within one another
  core::PathTable paths_;
  std::vector<std::uint64_t> keys_;  // by site: pass_key() without a kind
  std::map<std::tuple<std::uint32_t, std::uint32_t, std::int64_t, std::string>, std::uint32_t>
      roots_;
};

void fold(Flame& flame, std::size_t most_nodes) {
  core::LargeVector<FlameNode>& nodes = flame.nodes;
  if (nodes.size() <= most_nodes) return;
  // What is around a node takes no less.
  for (std::size_t i = nodes.size(); i-- > 0;) {
    if (nodes[i].parent < 0) continue;
    FlameNode& around = nodes[static_cast<std::size_t>(nodes[i].parent)];
    around.total = std::max(around.total, nodes[i].total);
  }
  const std::size_t before = nodes.size();
  fold_small(nodes, most_nodes, [](const FlameNode& node) { return node.total; });
  flame.folded = before - nodes.size();
}

}  // namespace

Flame make_flame(const Recording& recording, const Selection& selection,
                 std::vector<FlameWindow> windows, std::size_t most_nodes) {
  Flame flame;
  FlameScan scan(recording, selection, std::move(windows), flame);
  scan.run();
  fold(flame, most_nodes);
  return flame;
}

}  // namespace nvspan::reader
