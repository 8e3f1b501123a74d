// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The timeline of a page: tracks of threads, start/end ranges and streams of devices, as blocks in
// bytes; counters as points; what each name's ranges lasted.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/page/counter_points.hpp"
#include "reader/scan/selection.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

namespace nvspan::reader {

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
