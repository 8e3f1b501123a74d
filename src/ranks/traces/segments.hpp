// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a thread does at each moment: the innermost range that is open.

#pragma once

#include "ranks/traces/trace.hpp"

#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::ranks {

// The time in which a rank's thread was ready to run and had no core, as it says where it comes to
// collectives: no range is slower for that.
struct RunDelay {
  std::int64_t at = 0;
  std::int64_t ns = 0;  // since the thread began
};

// Takes that time off the parts between two of these moments, and makes a part `name` of it. In
// which part the thread had no core nobody knows: it goes to those that take longer than they have
// to at least, as far as they do, and what is left to all of them.
void take_off(RankTrace& trace, const std::vector<RunDelay>& delays, std::int32_t name);

class ThreadWork {
 public:
  static constexpr std::int32_t outside = -1;  // in no range but steps
  static constexpr std::int32_t waiting = -2;  // in a collective

  std::vector<Step> steps;       // by start
  std::vector<RunDelay> delays;  // in the order of time
  std::size_t collectives = 0;

  void enter(std::int64_t at, std::int32_t name) {
    open_.push_back(name);
    change(at);
  }
  // The innermost range ends. Ranges that cross are taken to be nested.
  void leave(std::int64_t at) {
    if (!open_.empty()) open_.pop_back();
    change(at);
  }
  // Cuts the work at the trace's collectives, whose waiting is no work, and fills the rest of the
  // trace. `outside` is the text for work in no range.
  void cut(RankTrace& trace, std::int32_t outside_text);

 private:
  struct Change {
    std::int64_t at;
    std::int32_t name;
  };

  void change(std::int64_t at) {
    const std::int32_t name = open_.empty() ? outside : open_.back();
    changes_.push_back(Change{at, name});
  }

  std::vector<std::int32_t> open_;
  std::vector<Change> changes_;
};

// Adds so much to all times.
void move(RankTrace& trace, std::int64_t by);

// A range of the GPU that is not a collective.
struct GpuStretch {
  std::int64_t start;
  std::int64_t end;
  std::int32_t text;
};

// What the GPU does at each moment, by these ranges, which it sorts.
ThreadWork work_of(std::vector<GpuStretch>& spans);

}  // namespace nvspan::ranks
