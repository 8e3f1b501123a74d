// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/page/timeline.hpp"

#include "core/log_histogram.hpp"
#include "reader/page/blocks.hpp"
#include "reader/page/timeline_bytes.hpp"
#include "reader/scan/device_rows.hpp"
#include "reader/scan/range_scan.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <tuple>
#include <utility>

namespace nvspan::reader {

unsigned DurationCounts::bucket_of(std::uint64_t ns) noexcept {
  const unsigned octave = core::log_octave(ns);
  const unsigned quarter = core::log_bucket(ns, octave) >> (core::log_octave_bits - 2);
  return std::min(4 * octave + quarter, buckets - 1);
}

double DurationCounts::begin(unsigned bucket) noexcept {
  return bucket == 0 ? 0 : std::ldexp(1.0 + (bucket % 4) / 4.0, static_cast<int>(bucket / 4));
}

namespace {

class TimelineScan : public RangeScan<TimelineScan, true> {
 public:
  TimelineScan(const Recording& recording, const Selection& selection, const TimelineLimits& limits,
               Timeline& out, BlockLanes& lanes)
      : RangeScan(recording, selection),
        limits_(limits),
        out_(out),
        lanes_(lanes),
        threads_(recording),
        devices_(recording) {
    key_of_site_.resize(range_kinds_and_marks * recording.sites().size(), 0);
  }

  // Ranges of domains need not nest: one lies below all that are open when it begins.
  std::uint64_t open(const PushRange&, std::uint64_t parent, const EntryPayload& payload) {
    const std::uint64_t level = parent == no_row ? 0 : parent + 1;
    if (payloads_.size() <= level) payloads_.resize(level + 1);
    payloads_[level] = payload;
    return level;
  }
  void ended(const ScannedRange& range) {
    if (range.kind == RangeKind::device) {
      devices_.add(recording_.threads()[range.thread].process, range);
    } else if (range.kind == RangeKind::start_end) {
      spans_.push_back(Span{range, *range.call});
    } else {
      PageBlock block = block_of(range, range.site, range.kind);
      block.payload = payloads_[range.row];
      add(range.row, block);
    }
  }
  void mark(std::uint32_t site, std::uint64_t ticks, const EntryPayload& payload) {
    const std::int64_t at = time(ticks);
    if (!takes(site, at, thread_)) return;
    PageBlock block;
    block.start = block.end = at;
    block.site = site;
    block.process = recording_.threads()[thread_].process;
    block.key = key_of(site, mark_kind);
    block.payload = payload;
    ++keys[block.key].calls;
    see(at, at);
    if (!begin_track()) return;
    if (payload.present) ++out_.payloads;
    if (track_.marks == PageTrack::none) track_.marks = lanes_.add_lane();
    lanes_.add(track_.marks, block);
  }
  void counter(std::uint32_t subject, record::EntryKind kind, std::uint64_t ticks,
               std::uint64_t bits) {
    if (subject >= process_->counters.size() || kind == record::EntryKind::counter_none) return;
    const std::uint32_t number = process_->counters[subject];
    const std::int64_t at = time(ticks);
    if (!selection_.takes_counter(number) || !selection_.takes_thread(thread_) ||
        !selection_.takes_time(at)) {
      return;
    }
    double value = 0;
    if (kind == record::EntryKind::counter_f64) std::memcpy(&value, &bits, sizeof value);
    if (kind == record::EntryKind::counter_i64) {
      value = static_cast<double>(static_cast<std::int64_t>(bits));
    }
    if (!std::isfinite(value)) return;
    see(at, at);
    Samples& samples = samples_[{recording_.threads()[thread_].process, number}];
    if (samples.thread != thread_) samples.points.begin_thread();
    samples.thread = thread_;
    samples.points.add(at, value);
    ++samples.count;
  }
  void end_thread(std::uint32_t thread) {
    track_.thread = thread;
    finish(PageTrackKind::thread, recording_.threads()[thread].process);
  }
  void end_process(std::uint32_t process) {
    add_spans(process);
    add_devices(process);
  }

  void finish_counters() {
    const std::size_t shown = std::min(samples_.size(), limits_.counters);
    out_.hidden_counters = samples_.size() - shown;
    for (auto& each : samples_) {
      if (out_.counters.size() == shown) break;
      CounterTrack track;
      track.process = each.first.first;
      track.counter = each.first.second;
      track.samples = each.second.count;
      track.points =
          each.second.points.finish(std::min(limits_.points / shown, CounterPoints::most_points));
      out_.counters.push_back(std::move(track));
    }
  }

  std::vector<PageKey> keys;
  std::int64_t first = std::numeric_limits<std::int64_t>::max();
  std::int64_t last = std::numeric_limits<std::int64_t>::min();

 private:
  static constexpr std::size_t mark_kind = range_kinds;
  static constexpr std::size_t range_kinds_and_marks = range_kinds + 1;

  struct Span {
    ScannedRange range;
    StartCall call;
  };
  struct Samples {
    CounterPoints points;
    std::uint32_t thread = static_cast<std::uint32_t>(-1);
    std::uint64_t count = 0;
  };

  void see(std::int64_t start, std::int64_t end) {
    first = std::min(first, start);
    last = std::max(last, end);
  }
  std::uint32_t key_of(std::uint32_t site, std::size_t kind) {
    std::uint32_t& known = key_of_site_[range_kinds_and_marks * site + kind];
    if (known == 0) {
      const ReadSite& read = recording_.sites()[site];
      const auto found =
          numbers_.emplace(std::make_tuple(read.domain, read.name, kind, read.backward,
                                           read.has_color, read.color, read.category),
                           static_cast<std::uint32_t>(keys.size() + 1));
      if (found.second) {
        PageKey& key = keys.emplace_back();
        key.domain = read.domain;
        key.name = read.name;
        key.is_mark = kind == mark_kind;
        if (!key.is_mark) key.kind = static_cast<RangeKind>(kind);
        key.backward = read.backward;
        key.has_color = read.has_color;
        key.color = read.color;
        key.category = read.category;
        key.category_name = read.category_name;
        if (keys.size() <= Timeline::most_durations && !key.is_mark) {
          key.durations = std::make_unique<DurationCounts>();
        }
      }
      known = found.first->second;
    }
    return known - 1;
  }
  // Also counts the range.
  template <typename Range>
  PageBlock block_of(const Range& range, std::uint32_t site, RangeKind kind) {
    PageBlock block;
    block.start = range.start;
    block.end = std::max(range.end, range.start);
    block.busy = block.longest = block.end - block.start;
    block.site = site;
    block.key = key_of(site, static_cast<std::size_t>(kind));
    block.unclosed = range.reason != EndReason::closed;
    see(block.start, block.end);
    if (block.unclosed) return block;
    PageKey& key = keys[block.key];
    ++key.calls;
    key.sum += static_cast<double>(block.busy);
    if (key.durations != nullptr) {
      ++key.durations->counts[DurationCounts::bucket_of(static_cast<std::uint64_t>(block.busy))];
    }
    return block;
  }
  // False: the limit is reached, and what belongs to the track is counted as hidden.
  bool begin_track() {
    if (out_.tracks.size() < limits_.tracks) return true;
    ++out_.hidden_tracks;
    return false;
  }
  void add(std::size_t level, PageBlock& block) {
    if (!begin_track()) return;
    if (level >= limits_.levels) {
      ++out_.hidden_levels;
      return;
    }
    block.process = process_number();
    while (track_.levels.size() <= level) track_.levels.push_back(lanes_.add_lane());
    if (block.payload.present) ++out_.payloads;
    ++track_.ranges;
    lanes_.add(track_.levels[level], block);
  }
  std::uint32_t process_number() const {
    return static_cast<std::uint32_t>(process_ - recording_.processes().data());
  }
  void finish(PageTrackKind kind, std::uint32_t process) {
    if (!track_.levels.empty() || track_.marks != PageTrack::none) {
      track_.kind = kind;
      track_.process = process;
      out_.tracks.push_back(std::move(track_));
    }
    track_ = PageTrack();
  }
  void add_spans(std::uint32_t process) {
    std::sort(spans_.begin(), spans_.end(),
              [](const Span& a, const Span& b) { return a.range.start < b.range.start; });
    Slots slots;
    for (const Span& span : spans_) {
      PageBlock block = block_of(span.range, span.range.site, RangeKind::start_end);
      block.payload = span.call.payload;
      add(slots.place(span.range.start, span.range.end), block);
    }
    spans_.clear();
    finish(PageTrackKind::spans, process);
  }
  void add_devices(std::uint32_t process) {
    const std::vector<DeviceRow> rows = devices_.arrange();
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const DeviceStep& step : rows[i].steps) {
        if (step.is_begin) continue;
        const DeviceSpan& span = devices_.spans()[step.span];
        PageBlock block = block_of(span, span.site, RangeKind::device);
        block.payload = span.call.payload;
        if (span.call.launched != 0) {
          block.launched = time(span.call.launched);
          block.launcher = threads_.launching_thread(process, span.call, no_thread) + 1;
        }
        add(rows[i].first_level + span.depth, block);
      }
      if (i + 1 < rows.size() && rows[i + 1].lane == rows[i].lane) continue;
      track_.device = lane_label(recording_, devices_.lane(rows[i].lane));
      finish(PageTrackKind::device, process);
    }
    devices_.clear();
  }

  static constexpr std::uint32_t no_thread = static_cast<std::uint32_t>(-1);

  const TimelineLimits& limits_;
  Timeline& out_;
  BlockLanes& lanes_;
  const LaunchThreads threads_;
  DeviceRows devices_;
  PageTrack track_;
  std::vector<EntryPayload> payloads_;  // of the open ranges, by level
  std::vector<Span> spans_;
  std::map<std::pair<std::uint32_t, std::uint32_t>, Samples> samples_;  // by process and counter
  std::vector<std::uint32_t> key_of_site_;                              // and 1
  std::map<std::tuple<std::uint32_t, std::int32_t, std::size_t, bool, bool, std::uint32_t,
                      std::uint32_t>,
           std::uint32_t>
      numbers_;
};

constexpr std::size_t least_bytes_of_block = 5;

}  // namespace

Timeline make_timeline(const Recording& recording, const Selection& selection,
                       const TimelineLimits& limits) {
  Timeline timeline;
  BlockLanes lanes(std::max<std::size_t>(limits.bytes / least_bytes_of_block, 64));
  TimelineScan scan(recording, selection, limits, timeline, lanes);
  scan.run();
  scan.finish_counters();
  if (scan.first > scan.last) return timeline;
  timeline.first = scan.first;
  timeline.last = scan.last;
  TimelineBytes bytes(recording, timeline, lanes, scan.keys);
  for (std::size_t before = static_cast<std::size_t>(-1); bytes.write() > limits.bytes;) {
    if (lanes.size() == before) break;
    before = lanes.size();
    lanes.coarsen();
  }
  timeline.resolution = lanes.resolution();
  bytes.write_payloads(limits.payload_bytes);
  for (const std::uint32_t key : bytes.used()) timeline.keys.push_back(std::move(scan.keys[key]));
  return timeline;
}

}  // namespace nvspan::reader
