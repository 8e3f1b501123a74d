// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "record/chunks/recording_file.hpp"
#include "record/definitions/definition_writer.hpp"
#include "record/thread/entry_writer.hpp"
#include "record/thread/stats_writer.hpp"
#include "record/thread/thread_list.hpp"
#include "record/thread/thread_sites.hpp"
#include "trace/event/event.hpp"

#include <cstdint>
#include <string_view>

namespace nvspan::record {

// A value of a counter; `bits` are those of a double if it is `real`.
struct LaneSample {
  std::uint64_t domain;
  std::string_view domain_name;
  std::uint64_t counter;
  std::string_view name;
  bool real;
  std::uint64_t bits;
};

// Events that are submitted with their times. They belong to no thread and lie in the chunks of one
// that stands for all of them, in the order of submission.
class DeferredLane {
 public:
  DeferredLane(RecordingFile& file, DefinitionWriter& definitions, ThreadSites& sites,
               EntryWriter& entries, StatsWriter& stats, ThreadList& threads)
      : file_(file),
        definitions_(definitions),
        sites_(sites),
        entries_(entries),
        stats_(stats),
        threads_(threads) {}

  // Once for all that is submitted together: by what to_ticks() converts until the next time. Early
  // in a recording the rate of its clock is a guess that changes from one reading to the next, and
  // that moves the two ends of a range which lies far back by microseconds.
  void read_clocks() noexcept;
  // The ticks of a stamp of one of NVTX's types. False: the clock is unknown.
  bool to_ticks(std::uint64_t type, std::int64_t stamp, std::uint64_t& ticks) const;

  void mark(std::uint64_t domain, const trace::Event& event, std::uint64_t ticks);
  void range(std::uint64_t domain, const trace::Event& event, std::uint64_t begin,
             std::uint64_t end);
  void sample(const LaneSample& sample, std::uint64_t ticks);
  // The rows of `event`.
  void samples(const trace::Event& event, std::uint64_t counter, std::string_view name,
               std::uint64_t ticks);

  ThreadWriter& writer();
  void forget() noexcept { writer_ = nullptr; }  // in a forked child

 private:
  RecordingFile& file_;
  DefinitionWriter& definitions_;
  ThreadSites& sites_;
  EntryWriter& entries_;
  StatsWriter& stats_;
  ThreadList& threads_;
  ThreadWriter* writer_ = nullptr;
  ClockSample now_ = {};
  double frequency_ = 1e9;
};

}  // namespace nvspan::record
