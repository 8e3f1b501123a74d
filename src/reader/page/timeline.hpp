// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The timeline of a page: tracks of threads, start/end ranges and streams of devices, as blocks in
// bytes; counters as points; what each name's ranges lasted.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/scan/selection.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nvspan::reader {

// The samples of a counter in few points: where there are more, those of one stretch of time are
// one point that has their least, their greatest and their last.
struct CounterPoint {
  std::int64_t time = 0;  // ns, of the first
  double least = 0;
  double greatest = 0;
  double last = 0;
  std::uint64_t count = 1;
};

class CounterPoints {
 public:
  static constexpr std::size_t most_points = 4096;

  // Samples of one thread come in the order of their times.
  void add(std::int64_t time, double value) {
    add(CounterPoint{time, value, value, value, 1});
    if (points_.size() - first_ >= 2 * most_points) coarsen();
  }
  // Those of another thread follow.
  void begin_thread() { first_ = points_.size(); }
  // All of them, at most `most`.
  std::vector<CounterPoint> finish(std::size_t most) {
    std::sort(points_.begin(), points_.end(),
              [](const CounterPoint& a, const CounterPoint& b) { return a.time < b.time; });
    first_ = 0;
    while (points_.size() > std::max<std::size_t>(most, 2) && shift_ < 62) coarsen();
    return std::move(points_);
  }

 private:
  void add(const CounterPoint& point) {
    if (shift_ != 0 && points_.size() > first_ &&
        points_.back().time >> shift_ == point.time >> shift_) {
      CounterPoint& before = points_.back();
      before.least = std::min(before.least, point.least);
      before.greatest = std::max(before.greatest, point.greatest);
      before.last = point.last;
      before.count += point.count;
      return;
    }
    points_.push_back(point);
  }
  void coarsen() {
    std::vector<CounterPoint> old(points_.begin() + static_cast<std::ptrdiff_t>(first_),
                                  points_.end());
    const std::size_t wanted = old.size() - old.size() / 4;
    while (points_.size() - first_ > wanted && shift_ < 62) {
      shift_ = shift_ == 0 ? 8 : shift_ + 1;
      points_.resize(first_);
      for (const CounterPoint& point : old) add(point);
    }
  }

  unsigned shift_ = 0;
  std::size_t first_ = 0;  // of this thread
  std::vector<CounterPoint> points_;
};

// Four buckets for each power of two of ns.
struct DurationCounts {
  static constexpr unsigned buckets = 4 * 46;
  std::array<std::uint32_t, buckets> counts{};

  static unsigned bucket_of(std::uint64_t ns) noexcept;
  // Where a bucket begins.
  static double begin(unsigned bucket) noexcept;
};

// What ranges and marks are called and look like.
struct PageKey {
  std::uint32_t domain = 0;
  std::int32_t name = no_name;
  bool is_mark = false;
  RangeKind kind = RangeKind::push_pop;
  bool backward = false;
  bool has_color = false;
  std::uint32_t color = 0;
  std::uint32_t category = 0;
  std::int32_t category_name = no_name;
  std::uint64_t calls = 0;
  double sum = 0;                             // ns
  std::unique_ptr<DurationCounts> durations;  // of the first `most_durations` keys
};

enum class PageTrackKind : std::uint8_t { thread, spans, device };

struct PageTrack {
  PageTrackKind kind = PageTrackKind::thread;
  std::uint32_t process = 0;
  std::int64_t thread = -1;
  std::string device;  // what the stream is called
  std::vector<std::size_t> levels;
  std::size_t marks = none;  // a lane
  std::uint64_t ranges = 0;
  std::string bytes;

  static constexpr std::size_t none = static_cast<std::size_t>(-1);
};

struct CounterTrack {
  std::uint32_t process = 0;
  std::uint32_t counter = 0;  // of Recording::counters()
  std::uint64_t samples = 0;
  std::vector<CounterPoint> points;
};

struct TimelineLimits {
  std::size_t bytes = 2'400'000;  // of blocks and names
  std::size_t levels = 256;
  std::size_t tracks = 512;
  std::size_t payload_bytes = 300'000;
  std::size_t points = 24'000;  // of all counters
  std::size_t counters = 200;
};

struct Timeline {
  static constexpr std::size_t most_durations = 2000;

  std::int64_t first = 0;  // ns
  std::int64_t last = 0;
  std::int64_t resolution = 0;        // ns; shorter ranges are merged. 0: all are there
  std::uint64_t hidden_levels = 0;    // ranges on levels past the limit
  std::uint64_t hidden_tracks = 0;    // ranges and marks of tracks past the limit
  std::uint64_t hidden_counters = 0;  // counters past the limit
  std::uint64_t payloads = 0;         // ranges and marks that have one
  std::uint64_t shown_payloads = 0;   // of them those whose text is here
  std::vector<PageTrack> tracks;
  std::vector<CounterTrack> counters;
  std::vector<PageKey> keys;                      // those that blocks name, by their numbers there
  std::vector<std::vector<std::uint32_t>> names;  // sets of keys
  std::vector<std::string> texts;                 // payloads
};

Timeline make_timeline(const Recording& recording, const Selection& selection,
                       const TimelineLimits& limits);

}  // namespace nvspan::reader
