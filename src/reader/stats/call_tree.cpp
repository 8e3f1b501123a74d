// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/stats/call_tree.hpp"

#include "reader/scan/range_scan.hpp"

#include <algorithm>

namespace nvspan::reader {
namespace {

struct PathKey {
  std::int64_t parent;
  std::uint64_t subject;  // domain, name and kind
  friend bool operator==(const PathKey& a, const PathKey& b) {
    return a.parent == b.parent && a.subject == b.subject;
  }
};
struct PathHash {
  std::size_t operator()(const PathKey& key) const noexcept {
    std::uint64_t hash = (static_cast<std::uint64_t>(key.parent) + 1) * 0x9E3779B97F4A7C15u;
    hash ^= key.subject * 0xC2B2AE3D27D4EB4Fu;
    return static_cast<std::size_t>(hash ^ hash >> 29);
  }
};

std::uint64_t identity(const ReadSite& site, RangeKind kind) {
  return std::uint64_t{site.domain} << 34 |
         std::uint64_t{static_cast<std::uint32_t>(site.name)} << 2 |
         static_cast<std::uint64_t>(kind);
}

class TreeBuilder : public RangeScan<TreeBuilder> {
 public:
  TreeBuilder(const Recording& recording, const Selection& selection)
      : RangeScan(recording, selection) {
    last_.resize(recording.sites().size(), Last{-2, 0});
  }

  std::uint64_t open(const PushRange& range, std::uint64_t parent, const EntryPayload&) {
    return node(range.site, RangeKind::push_pop,
                parent == no_row ? -1 : static_cast<std::int64_t>(parent));
  }
  void ended(const ScannedRange& range) {
    const std::uint64_t at =
        range.kind == RangeKind::push_pop ? range.row : node(range.site, range.kind, -1);
    if (at >= nodes.size()) return;
    CallNode& node = nodes[at];
    if (range.reason != EndReason::closed) {
      ++node.unclosed;
      return;
    }
    const std::int64_t duration = std::max<std::int64_t>(range.end - range.start, 0);
    ++node.calls;
    node.total += duration;
    node.self += range.self;
    node.shortest = std::min(node.shortest, duration);
    node.longest = std::max(node.longest, duration);
  }

  std::vector<CallNode> nodes;

 private:
  struct Last {
    std::int64_t parent;
    std::uint64_t node;
  };

  std::uint64_t node(std::uint32_t site, RangeKind kind, std::int64_t parent) {
    Last& last = last_[site];
    if (kind == RangeKind::push_pop && last.parent == parent) return last.node;
    const ReadSite& read = recording_.sites()[site];
    const auto found = paths_.emplace(PathKey{parent, identity(read, kind)}, nodes.size());
    if (found.second) {
      CallNode node;
      node.parent = parent;
      node.domain = read.domain;
      node.name = read.name;
      node.kind = kind;
      nodes.push_back(node);
    }
    if (kind == RangeKind::push_pop) last = Last{parent, found.first->second};
    return found.first->second;
  }

  std::vector<Last> last_;
  std::unordered_map<PathKey, std::uint64_t, PathHash> paths_;
};

class DurationCollector : public RangeScan<DurationCollector> {
 public:
  DurationCollector(const Recording& recording, const Selection& selection)
      : RangeScan(recording, selection) {
    rows_of_site_.resize(range_kinds * recording.sites().size(), 0);
  }

  void ended(const ScannedRange& range) {
    const bool closed = range.reason == EndReason::closed;
    if (!closed && !unclosed_end) return;
    std::size_t& cached =
        rows_of_site_[range_kinds * range.site + static_cast<std::size_t>(range.kind)];
    if (cached == 0) {
      const ReadSite& read = recording_.sites()[range.site];
      const auto found = rows_of_name_.emplace(identity(read, range.kind), rows.size());
      if (found.second) rows.push_back(Durations{read.domain, read.name, range.kind, {}});
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

std::vector<CallNode> call_tree(const Recording& recording, const Selection& selection) {
  TreeBuilder builder(recording, selection);
  builder.run();
  return std::move(builder.nodes);
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
