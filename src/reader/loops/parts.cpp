// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/parts.hpp"

#include "reader/loops/nesting.hpp"
#include "reader/loops/owners.hpp"
#include "reader/loops/paths.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace nvspan::reader {
namespace {

class PartsBuilder {
 public:
  PartsBuilder(const LoopRanges& ranges, const LoopSteps& steps, const FindOwners& owners)
      : ranges_(ranges),
        steps_(steps),
        is_simple_(!ranges.has_flags() && !run_at_once()),
        latest_(ranges.groups.size()) {
    if (!is_simple_) owners_ = &owners();
  }

  LoopTree build() {
    tree_.is_followed = steps_.kind == LoopSteps::Kind::ranges && steps_.is_floating;
    tree_.doubtful = owners_ == nullptr ? 0 : owners_->doubtful;
    order_rows();
    take_steps();
    find_paths();
    if (overlaps_) take_times();
    sum_up();
    tell_parts();
    if (!overlaps_ && steps_.size() > 1 && 20 * tree_.unnamed > tree_.total) place_unnamed();
    return std::move(tree_);
  }

 private:
  static constexpr std::uint32_t no_path = Paths::root;
  bool is_whole() const { return steps_.kind == LoopSteps::Kind::whole; }

  // A range within a step. Its path has the range itself.
  struct Visit {
    RangeRow row;
    std::uint32_t step, path;
    bool is_outermost, is_inner;  // inner: directly in a range of its name, with which it counts
  };
  // By step and start where the order of events says whose they are, else by thread and start.
  template <typename Use>
  void each_row(Use&& use) {
    if (is_simple_) return each_simple_row(use);
    path_.resize(ranges_.size(), no_path);
    const auto visit = [&](RangeRow row) {
      const RangeRow parent = parent_of(row);
      const bool is_outermost = parent == no_range;
      const std::uint32_t around = is_outermost ? Paths::root : path_[parent];
      const bool is_inner = !is_outermost && paths_.group(around) == ranges_.group[row];
      path_[row] = is_inner ? around : path_of(around, ranges_.group[row]);
      use(Visit{row, owners_->step[row], path_[row], is_outermost, is_inner});
    };
    if (tree_.is_followed) {
      std::for_each(rows_.begin(), rows_.end(), visit);
      return;
    }
    for (RangeRow row = 0; row < ranges_.size(); ++row) {
      if (owners_->step[row] != Owners::none) visit(row);
    }
  }
  // Where neither steps nor ranges overlap, who owns a range is seen on the way.
  template <typename Use>
  void each_simple_row(Use& use) {
    struct Open {
      RangeRow row;
      std::uint32_t step, path;
    };
    std::vector<Open> open;
    OwnerSearch owners(ranges_, steps_);
    for (const std::uint32_t thread : owners.threads()) {
      open.clear();
      owners.begin_thread(thread);
      const LoopRanges::Rows rows = ranges_.rows_of(thread);
      for (RangeRow row = rows.begin; row < rows.end; ++row) {
        while (!open.empty() && open.back().row != ranges_.parent[row]) open.pop_back();
        const std::uint32_t step = owners.owner_of(row);
        if (step == Owners::none) {
          open.push_back({row, step, no_path});
          continue;
        }
        const bool is_outermost = open.empty() || open.back().step != step;
        const std::uint32_t around = is_outermost ? Paths::root : open.back().path;
        const bool is_inner = !is_outermost && paths_.group(around) == ranges_.group[row];
        const std::uint32_t path = is_inner ? around : path_of(around, ranges_.group[row]);
        open.push_back({row, step, path});
        use(Visit{row, step, path, is_outermost, is_inner});
      }
    }
  }
  void order_rows() {
    if (is_simple_) return;
    overlaps_ = !is_whole() && run_at_once();
    for (RangeRow row = 0; row < ranges_.size() && !overlaps_ && !is_whole(); ++row) {
      overlaps_ = owners_->step[row] != Owners::none && ranges_.is_floating(row);
    }
    if (!tree_.is_followed) return;
    for (RangeRow row = 0; row < ranges_.size(); ++row) {
      if (owners_->step[row] != Owners::none) rows_.push_back(row);
    }
    const auto precedes = [&](RangeRow a, RangeRow b) {
      if (owners_->step[a] != owners_->step[b]) return owners_->step[a] < owners_->step[b];
      if (ranges_.start[a] != ranges_.start[b]) return ranges_.start[a] < ranges_.start[b];
      return ranges_.end[a] > ranges_.end[b];
    };
    std::stable_sort(rows_.begin(), rows_.end(), precedes);
    parents_.resize(ranges_.size(), no_range);
    NestingStack stack(ranges_);
    for (const RangeRow row : rows_) {
      stack.enter(row, owners_->step[row]);
      parents_[row] = stack.parent();
    }
  }
  // Whether steps of several threads overlap each other.
  bool run_at_once() const {
    std::int64_t end = ranges_.first;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (steps_.start[i] < end) return true;
      end = std::max(end, steps_.end[i]);
    }
    return false;
  }
  RangeRow parent_of(RangeRow row) const {
    const RangeRow parent = parents_.empty() ? ranges_.parent[row] : parents_[row];
    if (parent == no_range || owners_->step[parent] != owners_->step[row]) return no_range;
    return parent;
  }

  void take_steps() {
    tree_.steps.resize(steps_.size());
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      tree_.steps[i] = steps_.end[i] - steps_.start[i];
      tree_.total += tree_.steps[i];
    }
    tree_.self = tree_.steps;
  }

  // f directly within f is f. Where nothing overlaps, times add up at once.
  void find_paths() {
    const bool has_series = !is_whole() && steps_.size() > 1 && !overlaps_;
    each_row([&](const Visit& visit) {
      if (visit.path >= all_.size()) all_.resize(paths_.size());
      LoopPart& part = all_[visit.path];
      ++part.calls;
      if (overlaps_) return;
      const std::int64_t duration = ranges_.duration(visit.row);
      if (visit.is_outermost) tree_.self[visit.step] -= duration;
      if (visit.is_inner) return;
      part.total += duration;
      // Few paths are the largest ones, whatever they turn out to take.
      if (!has_series || visit.path >= most_series) return;
      if (part.series.empty()) part.series.resize(steps_.size());
      part.series[visit.step] += duration;
    });
  }
  // Most ranges of a group are in the path of the one before.
  std::uint32_t path_of(std::uint32_t around, std::uint32_t group) {
    Latest& latest = latest_[group];
    if (!latest.is_known || latest.around != around) {
      latest = {true, around, paths_.within(around, group)};
    }
    return latest.path;
  }
  // Siblings may overlap each other where steps do: covered time counts. What occurs once a step
  // cannot overlap itself: its time is exact whoever the owner is.
  void take_times() {
    times_.resize(ranges_.size());
    std::vector<std::uint64_t> calls(paths_.size());
    RangeRows order, outermost;
    each_row([&](const Visit& visit) {
      if (visit.is_outermost) outermost.push_back(visit.row);
      if (visit.is_inner) return;
      ++calls[visit.path];
      order.push_back(visit.row);
      times_[visit.row] = ranges_.duration(visit.row);
    });
    order.erase(std::remove_if(order.begin(), order.end(),
                               [&](RangeRow row) { return calls[path_[row]] <= steps_.size(); }),
                order.end());
    const auto lane_of = [&](RangeRow row) {
      return std::uint64_t{path_[row]} << 32 | owners_->step[row];
    };
    std::stable_sort(order.begin(), order.end(), [&](RangeRow a, RangeRow b) {
      if (lane_of(a) != lane_of(b)) return lane_of(a) < lane_of(b);
      return ranges_.start[a] < ranges_.start[b];
    });
    SortedCoverage coverage;
    for (const RangeRow row : order) {
      times_[row] = coverage.add(lane_of(row), ranges_.start[row], ranges_.end[row]);
    }
    each_row([&](const Visit& visit) { all_[visit.path].total += times_[visit.row]; });
    std::stable_sort(outermost.begin(), outermost.end(), [&](RangeRow a, RangeRow b) {
      if (owners_->step[a] != owners_->step[b]) return owners_->step[a] < owners_->step[b];
      return ranges_.start[a] < ranges_.start[b];
    });
    SortedCoverage within_steps;
    for (const RangeRow row : outermost) {
      const std::uint32_t step = owners_->step[row];
      tree_.self[step] -= within_steps.add(step, ranges_.start[row], ranges_.end[row]);
    }
  }

  void sum_up() {
    for (std::int64_t& self : tree_.self) {
      self = std::max<std::int64_t>(0, self);
      tree_.unnamed += self;
    }
    for (std::uint32_t path = 0; path < all_.size(); ++path) {
      all_[path].group = paths_.group(path);
      all_[path].self += all_[path].total;
      const std::uint32_t parent = paths_.parent(path);
      if (parent != Paths::root) all_[parent].self -= all_[path].total;
    }
  }

  // The largest parts and what is around them, level by level.
  void tell_parts() {
    std::vector<std::uint32_t> by_total(all_.size());
    std::iota(by_total.begin(), by_total.end(), std::uint32_t{0});
    std::stable_sort(by_total.begin(), by_total.end(), [&](std::uint32_t a, std::uint32_t b) {
      return all_[a].total > all_[b].total;
    });
    std::vector<std::uint32_t> level(all_.size());  // 0: it is not told
    for (std::size_t i = 0; i < std::min(by_total.size(), most_parts); ++i)
      mark(by_total[i], level);
    std::vector<std::uint32_t> told;
    for (std::uint32_t path = 0; path < all_.size(); ++path) {
      if (level[path] != 0) told.push_back(path);
    }
    std::vector<std::uint32_t> place(all_.size(), LoopPart::none);
    std::stable_sort(told.begin(), told.end(),
                     [&](std::uint32_t a, std::uint32_t b) { return level[a] < level[b]; });
    for (auto at = told.begin(); at != told.end();) {
      const auto end = std::find_if(at, told.end(),
                                    [&](std::uint32_t path) { return level[path] != level[*at]; });
      const auto key_of = [&](std::uint32_t path) {
        const std::uint32_t parent = paths_.parent(path);
        return std::make_pair(parent == Paths::root ? 0 : place[parent], all_[path].group);
      };
      std::sort(at, end, [&](std::uint32_t a, std::uint32_t b) { return key_of(a) < key_of(b); });
      for (; at != end; ++at) {
        place[*at] = static_cast<std::uint32_t>(at - told.begin());
      }
    }
    for (const std::uint32_t path : told) {
      LoopPart part = std::move(all_[path]);
      const std::uint32_t parent = paths_.parent(path);
      if (parent != Paths::root) part.parent = place[parent];
      tree_.parts.push_back(std::move(part));
    }
    if (!is_whole() && steps_.size() > 1) fill_series(by_total, place);
  }
  void mark(std::uint32_t path, std::vector<std::uint32_t>& level) const {
    std::vector<std::uint32_t> chain;
    for (; path != Paths::root && level[path] == 0; path = paths_.parent(path)) {
      chain.push_back(path);
    }
    std::uint32_t above = path == Paths::root ? 0 : level[path];
    for (auto one = chain.rbegin(); one != chain.rend(); ++one) level[*one] = ++above;
  }
  void fill_series(const std::vector<std::uint32_t>& by_total,
                   const std::vector<std::uint32_t>& place) {
    if (!overlaps_ && all_.size() <= most_series) return;  // find_paths() did
    for (LoopPart& part : tree_.parts) part.series = {};
    std::vector<core::LargeVector<std::int64_t>*> series(all_.size());
    for (std::size_t i = 0; i < std::min(by_total.size(), most_series); ++i) {
      LoopPart& part = tree_.parts[place[by_total[i]]];
      part.series.resize(steps_.size());
      series[by_total[i]] = &part.series;
    }
    each_row([&](const Visit& visit) {
      auto* const into = series[visit.path];
      if (into == nullptr || (visit.is_inner && !overlaps_)) return;
      (*into)[visit.step] += overlaps_ ? times_[visit.row] : ranges_.duration(visit.row);
    });
  }

  // Between which outermost parts of the step most of its unnamed time is. The steps of a thread
  // follow each other here.
  void place_unnamed() {
    Paths places;  // of (after, before)
    std::vector<std::int64_t> times;
    const auto add = [&](std::uint32_t after, std::uint32_t before, std::int64_t time) {
      const std::uint32_t place = places.within(after, before);
      if (place == times.size()) times.push_back(0);
      times[place] += std::max<std::int64_t>(0, time);
    };
    RangeRow latest = no_range;
    std::uint32_t latest_step = 0;
    const auto end_step = [&] {
      if (latest == no_range) return;
      const std::int64_t end = steps_.end[latest_step];
      add(ranges_.group[latest], LoopTree::edge, end - ranges_.end[latest]);
    };
    each_row([&](const Visit& visit) {
      if (!visit.is_outermost) return;
      const RangeRow row = visit.row;
      const std::uint32_t step = visit.step;
      const bool is_first = latest == no_range || latest_step != step;
      if (is_first) end_step();
      const std::int64_t from = is_first ? steps_.start[step] : ranges_.end[latest];
      add(is_first ? LoopTree::edge : ranges_.group[latest], ranges_.group[row],
          ranges_.start[row] - from);
      latest = row;
      latest_step = step;
    });
    end_step();
    const auto most = std::max_element(times.begin(), times.end());
    if (most == times.end()) return;
    if (2 * *most <= std::accumulate(times.begin(), times.end(), std::int64_t{0})) return;
    const auto place = static_cast<std::uint32_t>(most - times.begin());
    tree_.unnamed_place = {true, places.parent(place), places.group(place)};
  }

  struct Latest {  // of a group
    bool is_known = false;
    std::uint32_t around = 0, path = 0;
  };

  const LoopRanges& ranges_;
  const LoopSteps& steps_;
  const bool is_simple_;
  const Owners* owners_ = nullptr;  // where it is not simple
  std::vector<Latest> latest_;
  bool overlaps_ = false;
  RangeRows rows_, parents_;               // where the order of events says whose a range is
  core::LargeVector<std::uint32_t> path_;  // likewise
  core::LargeVector<std::int64_t> times_;  // where steps or ranges overlap
  Paths paths_;
  std::vector<LoopPart> all_;  // of each path
  LoopTree tree_;
};

}  // namespace

LoopTree build_tree(const LoopRanges& ranges, const LoopSteps& steps, const FindOwners& owners) {
  return PartsBuilder(ranges, steps, owners).build();
}

}  // namespace nvspan::reader
