// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The lines of threads in stretches of time, and those that have more time in some than in others.

#pragma once

#include "reader/samples/window_scan.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace nvspan::reader {

struct LineShare {
  LinePlace place;
  SampleTime time;
  double share = 0;   // of all time of the threads in the windows
  double margin = 0;  // the half of its 95 % interval
};
struct LineShares {
  std::vector<LineShare> rows;  // the largest first
  SampleTime all;
};

// Of the threads in the windows, whatever their sets.
LineShares line_shares(const Recording& recording, const std::vector<WindowedThread>& threads,
                       const WindowedLines& lines);

struct LineGain {
  LinePlace place;
  SampleTime time;                            // in the first steps
  double gain = 0;                            // ns: its mean there, less that in the others
  double margin = 0;                          // the half of its 95 % interval
  std::array<double, time_kinds> parts = {};  // of `gain`, by TimeKind
};
struct LineGains {
  static constexpr std::size_t most = 8;
  std::vector<LineGain> rows;  // the largest gains first
  double covered = 0;          // the part of the first steps' windows that samples stand for
};

// Of `steps` steps the first `firsts` against the others; the set of a window is its step.
struct ComparedSteps {
  std::uint32_t firsts = 0, steps = 0;
};
LineGains line_gains(const Recording& recording, const std::vector<WindowedThread>& threads,
                     const WindowedLines& lines, const ComparedSteps& compared);

struct ThreadTime {
  std::uint32_t process = 0;
  std::uint32_t tid = 0;
  SampleTime time;
};

// What each thread that was sampled did in the windows, the one aside that has these numbers.
std::vector<ThreadTime> thread_times(const Recording& recording,
                                     const std::vector<SampleWindow>& windows,
                                     std::uint32_t process, std::uint32_t tid);

}  // namespace nvspan::reader
