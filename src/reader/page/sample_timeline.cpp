// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/page/sample_timeline.hpp"

#include "reader/page/blocks.hpp"
#include "reader/page/timeline_bytes.hpp"
#include "reader/samples/chosen_slots.hpp"
#include "reader/samples/stack_functions.hpp"
#include "reader/samples/stretches.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace nvspan::reader {
namespace {

constexpr std::size_t least_block_bytes = 5;

class SampleTracks {
 public:
  SampleTracks(const Recording& recording, const Selection& selection, const LineOptions& options,
               const TimelineLimits& limits, SampleTimeline& out)
      : recording_(recording),
        selection_(selection),
        options_(options),
        limits_(limits),
        out_(out),
        places_(recording, LineKey::function, functions),
        lanes_(std::max<std::size_t>(limits.bytes / least_block_bytes, 64)) {}

  void add(std::uint32_t process, const ChosenSlots& chosen) {
    const SampleTables& tables = recording_.processes()[process].samples;
    const ShownStacks shown(tables, places_,
                            hidden_codes(recording_, tables, options_.key, options_.hidden));
    keys_.resize(functions.size());
    StackFunctions functions_of(tables, shown);
    tables_ = &tables;
    functions_of_ = &functions_of;
    process_ = process;
    threads_.assign(tables.threads.size(), Thread());
    const std::vector<bool> wanted = wanted_threads(recording_, process, selection_);
    for (std::uint32_t i = 0; i < threads_.size(); ++i) {
      threads_[i].is_shown = wanted[i] && !chosen.is_idle(process, i);
    }
    const auto take = [this](std::uint32_t thread, std::uint32_t stack, std::int64_t from,
                             std::int64_t to) { stretch(thread, stack, from, to); };
    SampleStretches<decltype(take)>(recording_.processes()[process], take).run();
    for (std::uint32_t i = 0; i < threads_.size(); ++i) finish(i);
  }

  void write() {
    Timeline& timeline = out_.timeline;
    if (first_ > last_) return;
    timeline.first = first_;
    timeline.last = last_;
    TimelineBytes bytes(recording_, timeline, lanes_, keys_);
    for (std::size_t before = static_cast<std::size_t>(-1); bytes.write() > limits_.bytes;) {
      if (lanes_.size() == before) break;
      before = lanes_.size();
      lanes_.coarsen();
    }
    timeline.resolution = lanes_.resolution();
    bytes.write_payloads(0);
    for (const std::uint32_t key : bytes.used()) {
      timeline.keys.push_back(std::move(keys_[key]));
      out_.functions.push_back(functions[key]);
    }
  }

  std::vector<LinePlace> functions;

 private:
  struct OpenFunction {
    std::uint32_t function;
    std::int64_t start;
  };
  struct Thread {
    bool is_shown = false;
    bool has_track = false;
    std::size_t track = 0;
    std::int64_t end = std::numeric_limits<std::int64_t>::min();
    std::vector<OpenFunction> open;
  };

  void stretch(std::uint32_t number, std::uint32_t stack, std::int64_t from, std::int64_t to) {
    Thread& thread = threads_[number];
    if (!thread.is_shown || !selection_.takes_time(from)) return;
    if (!thread.has_track) {
      if (out_.timeline.tracks.size() == limits_.tracks) {
        ++out_.timeline.hidden_tracks;
        return;
      }
      thread.has_track = true;
      thread.track = out_.timeline.tracks.size();
      PageTrack& track = out_.timeline.tracks.emplace_back();
      track.process = process_;
      out_.threads.push_back({process_, tables_->threads[number].tid});
    }
    first_ = std::min(first_, from);
    last_ = std::max(last_, to);
    ++out_.timeline.tracks[thread.track].ranges;
    const StackFunctions::Functions now = functions_of_->of(stack);
    std::size_t same = 0;
    if (from == thread.end) {
      const std::size_t most = std::min(now.count, thread.open.size());
      while (same < most && thread.open[same].function == now.first[same]) ++same;
    }
    close(thread, same, thread.end);
    for (std::size_t level = same; level < now.count; ++level) {
      thread.open.push_back({now.first[level], from});
    }
    thread.end = to;
  }
  // Ends what is open at a level and below it.
  void close(Thread& thread, std::size_t level, std::int64_t to) {
    PageTrack& track = out_.timeline.tracks[thread.track];
    for (std::size_t i = level; i < thread.open.size(); ++i) {
      if (i >= limits_.levels) {
        ++out_.timeline.hidden_levels;
        continue;
      }
      while (track.levels.size() <= i) track.levels.push_back(lanes_.add_lane());
      PageBlock block;
      block.start = thread.open[i].start;
      block.end = to;
      block.busy = block.longest = static_cast<std::int64_t>(
          static_cast<std::uint64_t>(to) - static_cast<std::uint64_t>(block.start));
      block.key = thread.open[i].function;
      block.process = process_;
      PageKey& key = keys_[block.key];
      ++key.calls;
      key.sum += static_cast<double>(block.busy);
      lanes_.add(track.levels[i], block);
    }
    thread.open.resize(std::min(level, thread.open.size()));
  }
  void finish(std::uint32_t number) {
    if (threads_[number].has_track) close(threads_[number], 0, threads_[number].end);
  }

  const Recording& recording_;
  const Selection& selection_;
  const LineOptions& options_;
  const TimelineLimits& limits_;
  SampleTimeline& out_;
  LinePlaces places_;
  BlockLanes lanes_;
  std::vector<PageKey> keys_;  // by function
  std::int64_t first_ = std::numeric_limits<std::int64_t>::max();
  std::int64_t last_ = std::numeric_limits<std::int64_t>::min();
  // Of the process that is read:
  const SampleTables* tables_ = nullptr;
  StackFunctions* functions_of_ = nullptr;
  std::uint32_t process_ = 0;
  std::vector<Thread> threads_;
};

}  // namespace

SampleTimeline sample_timeline(const Recording& recording, const SampleSums& sums,
                               const Selection& selection, const LineOptions& options,
                               const TimelineLimits& limits) {
  SampleTimeline found;
  if (!selection.sites.empty()) return found;
  const ChosenSlots chosen(recording, sums, options);
  SampleTracks tracks(recording, selection, options, limits, found);
  for (std::uint32_t i = 0; i < recording.processes().size(); ++i) {
    if (!recording.processes()[i].samples.chunks.empty()) tracks.add(i, chosen);
  }
  tracks.write();
  return found;
}

}  // namespace nvspan::reader
