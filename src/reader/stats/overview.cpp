// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/stats/overview.hpp"

#include "reader/scan/device_rows.hpp"
#include "reader/scan/range_scan.hpp"
#include "reader/scan/slots.hpp"

#include <limits>

namespace nvspan::reader {
namespace {

// How many ranges, on how many lanes, from when to when.
class Survey : public RangeScan<Survey> {
 public:
  Survey(const Recording& recording, const Selection& selection, std::uint32_t most_levels)
      : RangeScan(recording, selection), most_levels_(most_levels) {}

  void ended(const ScannedRange& range) {
    ++ranges;
    first = std::min(first, range.start);
    last = std::max(last, range.end);
    // How far start/end ranges overlap is not known yet.
    const bool is_span = range.kind != RangeKind::push_pop;
    levels_ = std::max(levels_, is_span ? most_levels_ : range.level + 1);
  }
  void end_thread(std::uint32_t) { count_lanes(); }
  void end_process(std::uint32_t) { count_lanes(); }

  std::uint64_t ranges = 0;
  std::uint64_t lanes = 0;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();

 private:
  void count_lanes() {
    lanes += std::min(levels_, most_levels_);
    levels_ = 0;
  }

  std::uint32_t most_levels_;
  std::uint32_t levels_ = 0;
};

// One lane in the making; its ranges come in the order of their ends, and do not overlap.
class LaneBuilder {
 public:
  LaneBuilder(std::int64_t first, std::int64_t resolution)
      : first_(first), resolution_(resolution) {}

  void add(std::int64_t start, std::int64_t end, const ReadSite& site) {
    const std::int64_t duration = end - start;
    std::int64_t bucket = -1;
    if (resolution_ > 0 && duration < resolution_) {
      bucket = (start - first_) / resolution_;
      if (bucket == bucket_) {
        OverviewBlock& block = blocks_.back();
        block.end = std::max(block.end, end);
        ++block.count;
        if (duration > longest_) {
          longest_ = duration;
          block.domain = site.domain;
          block.name = site.name;
        }
        return;
      }
      longest_ = duration;
    }
    bucket_ = bucket;
    blocks_.push_back(OverviewBlock{start, end, site.domain, site.name, 1});
  }

  OverviewLane finish(std::uint32_t process, std::int64_t thread, std::uint32_t level) {
    return OverviewLane{process, thread, {}, level, std::move(blocks_)};
  }

 private:
  std::int64_t first_;
  std::int64_t resolution_;
  std::int64_t bucket_ = -1;  // of the last block, where others may join it
  std::int64_t longest_ = 0;
  std::vector<OverviewBlock> blocks_;
};

class Painter : public RangeScan<Painter, true> {
 public:
  Painter(const Recording& recording, const Selection& selection, Overview& out,
          std::uint32_t levels, std::uint32_t threads)
      : RangeScan(recording, selection),
        out_(out),
        levels_(levels),
        threads_(threads),
        devices_(recording) {}

  void ended(const ScannedRange& range) {
    if (range.kind == RangeKind::device) {
      devices_.add(recording_.threads()[range.thread].process, range);
    } else if (range.kind == RangeKind::start_end) {
      spans_.push_back(range);
    } else if (shown_ >= threads_) {
      ++out_.hidden;
    } else {
      add(lanes_, range.level, range);
    }
  }
  void end_thread(std::uint32_t thread) {
    if (!lanes_.empty()) ++shown_;
    finish(lanes_, recording_.threads()[thread].process, thread);
  }
  void end_process(std::uint32_t process) {
    std::sort(spans_.begin(), spans_.end(),
              [](const ScannedRange& a, const ScannedRange& b) { return a.start < b.start; });
    Slots slots;
    for (const ScannedRange& span : spans_) add(lanes_, slots.place(span.start, span.end), span);
    finish(lanes_, process, -1);
    spans_.clear();
    paint_devices(process);
    shown_ = 0;
  }

 private:
  void add(std::vector<LaneBuilder>& lanes, std::uint32_t level, const ScannedRange& range) {
    if (level >= levels_) {
      ++out_.hidden;
      return;
    }
    while (lanes.size() <= level) lanes.emplace_back(out_.first, out_.resolution);
    lanes[level].add(range.start, range.end, recording_.sites()[range.site]);
  }
  void finish(std::vector<LaneBuilder>& lanes, std::uint32_t process, std::int64_t thread,
              const std::string& device = {}) {
    for (std::uint32_t level = 0; level < lanes.size(); ++level) {
      out_.lanes.push_back(lanes[level].finish(process, thread, level));
      out_.lanes.back().device = device;
    }
    lanes.clear();
  }
  // Each range lies in the row of its depth; a row's blocks must come in the order of their ends.
  void paint_devices(std::uint32_t process) {
    const std::vector<DeviceRow> rows = devices_.arrange();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const DeviceStep& step : rows[i].steps) {
        if (step.is_begin) continue;
        const DeviceSpan& span = devices_.spans()[step.span];
        const std::uint32_t level = rows[i].first_level + span.depth;
        if (level >= levels_) {
          ++out_.hidden;
          continue;
        }
        while (lanes_.size() <= level) lanes_.emplace_back(out_.first, out_.resolution);
        lanes_[level].add(span.start, span.end, recording_.sites()[span.site]);
      }
      const bool last = i + 1 == rows.size() || rows[i + 1].lane != rows[i].lane;
      if (last) finish(lanes_, process, -1, lane_label(recording_, devices_.lane(rows[i].lane)));
    }
    devices_.clear();
  }

  Overview& out_;
  std::uint32_t levels_;
  std::uint32_t threads_;
  std::uint32_t shown_ = 0;
  std::vector<LaneBuilder> lanes_;
  std::vector<ScannedRange> spans_;
  DeviceRows devices_;
};

}  // namespace

Overview overview(const Recording& recording, const Selection& selection, std::uint64_t budget,
                  std::uint32_t levels, std::uint32_t threads) {
  Survey survey(recording, selection, levels);
  survey.run();
  Overview overview;
  if (survey.ranges == 0) return overview;
  overview.first = survey.first;
  overview.last = survey.last;
  if (survey.ranges > budget) {
    // A lane has at most one merged block and one long range for each stretch of the resolution.
    const std::uint64_t stretches =
        std::max<std::uint64_t>(budget / 2 / std::max<std::uint64_t>(survey.lanes, 1), 50);
    overview.resolution =
        std::max<std::int64_t>(
            (overview.last - overview.first) / static_cast<std::int64_t>(stretches), 0) +
        1;
  }
  Painter painter(recording, selection, overview, levels, threads);
  painter.run();
  return overview;
}

}  // namespace nvspan::reader
