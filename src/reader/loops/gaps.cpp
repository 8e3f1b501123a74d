// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/loops/gaps.hpp"

#include "reader/loops/parts.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

namespace nvspan::reader {
namespace {

class GapFinder {
 public:
  GapFinder(const LoopRanges& ranges, const LoopSteps& steps, std::uint32_t thread)
      : ranges_(ranges) {
    gaps_.thread = thread;
    begins_.reserve(steps.size());
    ends_.reserve(steps.size());
    for (std::size_t i = 0; i < steps.size(); ++i) {
      if (steps.thread[i] != thread) continue;
      begins_.push_back(steps.start[i]);
      ends_.push_back(steps.end[i]);
    }
  }

  LoopGaps find() {
    const std::int64_t last = *std::max_element(ends_.begin(), ends_.end());
    gaps_.loop = last - begins_.front();
    gaps_.series.reserve(begins_.size());
    for (std::size_t i = 1; i < begins_.size(); ++i) {
      gaps_.series.push_back(std::max<std::int64_t>(0, begins_[i] - ends_[i - 1]));
      gaps_.total += gaps_.series.back();
    }
    const LoopRanges::Rows rows = ranges_.rows_of(gaps_.thread);
    gaps_.lead = begins_.front() - std::min(begins_.front(), ranges_.start[rows.begin]);
    gaps_.tail = std::max(rows.last, last) - last;
    place_rows(rows, last);
    for (auto& [group, found] : between_) gaps_.parts.push_back(std::move(found));
    for (auto& [group, found] : before_) gaps_.before.push_back(std::move(found));
    for (auto& [group, found] : after_) gaps_.after.push_back(std::move(found));
    for (auto* parts : {&gaps_.parts, &gaps_.before, &gaps_.after}) {
      std::stable_sort(parts->begin(), parts->end(),
                       [](const auto& a, const auto& b) { return a.total > b.total; });
    }
    fill_series();
    return std::move(gaps_);
  }

 private:
  using Parts = std::map<std::uint32_t, LoopGapPart>;

  // The outermost ranges outside of steps, those aside that hold steps or end within one.
  void place_rows(const LoopRanges::Rows& rows, std::int64_t last) {
    std::vector<std::uint8_t> is_around(rows.end - rows.begin);
    std::size_t next = 0;  // the first step that begins after the row does
    for (RangeRow row = rows.begin; row < rows.end; ++row) {
      if (ranges_.is_floating(row) || ranges_.is_backward(row)) continue;
      // What lies in a range that holds no step holds none.
      const RangeRow parent = ranges_.parent[row];
      if (parent != no_range && is_around[parent - rows.begin] == 0) continue;
      const std::int64_t start = ranges_.start[row], end = ranges_.end[row];
      while (next < begins_.size() && begins_[next] <= start) ++next;
      const std::size_t first = next > 0 && begins_[next - 1] == start ? next - 1 : next;
      const bool holds = first < begins_.size() && begins_[first] < end;
      const bool is_outside = next == 0 || start >= ends_[next - 1];
      if (holds || (!is_outside && end > ends_[next - 1])) is_around[row - rows.begin] = 1;
      if (!is_outside || holds) continue;
      Parts& into = next == 0 ? before_ : end <= last ? between_ : after_;
      LoopGapPart& part = into[ranges_.group[row]];
      part.group = ranges_.group[row];
      ++part.calls;
      part.total += end - start;
      if (&into == &between_) hits_.push_back({row, next - 1});
    }
  }
  void fill_series() {
    std::vector<LoopGapPart*> of_groups(ranges_.groups.size());
    for (std::size_t i = 0; i < std::min(gaps_.parts.size(), most_series); ++i) {
      LoopGapPart& part = gaps_.parts[i];
      part.has_series = true;
      part.series.resize(gaps_.series.size());
      of_groups[part.group] = &part;
    }
    for (const Hit& hit : hits_) {
      LoopGapPart* const part = of_groups[ranges_.group[hit.row]];
      if (part == nullptr || hit.pause >= part->series.size()) continue;
      part->series[hit.pause] += ranges_.duration(hit.row);
      const auto pause = static_cast<std::int64_t>(hit.pause);
      if (part->pauses.empty() || part->pauses.back() != pause) part->pauses.push_back(pause);
    }
  }

  struct Hit {
    RangeRow row;
    std::size_t pause;
  };

  const LoopRanges& ranges_;
  std::vector<std::int64_t> begins_, ends_;
  Parts between_, before_, after_;
  std::vector<Hit> hits_;
  LoopGaps gaps_;
};

}  // namespace

std::uint32_t busiest_thread(const LoopSteps& steps) {
  std::map<std::int64_t, std::size_t> counts;
  for (const std::int64_t thread : steps.thread) ++counts[thread];
  const auto most =
      std::max_element(counts.begin(), counts.end(),
                       [](const auto& a, const auto& b) { return a.second < b.second; });
  return static_cast<std::uint32_t>(most->first);
}

LoopGaps find_gaps(const LoopRanges& ranges, const LoopSteps& steps, std::uint32_t thread) {
  const bool has_steps = std::find(steps.thread.begin(), steps.thread.end(),
                                   static_cast<std::int64_t>(thread)) != steps.thread.end();
  return GapFinder(ranges, steps, has_steps ? thread : busiest_thread(steps)).find();
}

}  // namespace nvspan::reader
