// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The samples of threads in stretches of time: slow steps, waits of another thread.

#pragma once

#include "reader/samples/sample_sums.hpp"
#include "reader/samples/shown_stacks.hpp"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

namespace nvspan::reader {

struct SampleWindow {
  std::int64_t start = 0, end = 0;
  std::uint32_t set = 0;  // what it is counted with
};

// By their starts, without those that are empty; where two overlap, those of one set are joined,
// else the later one begins at the end of the earlier one.
std::vector<SampleWindow> ordered_windows(std::vector<SampleWindow> windows);

// A thread of the system's; its windows are ordered.
struct WindowedThread {
  std::uint32_t process = 0;
  std::uint32_t tid = 0;
  const std::vector<SampleWindow>* windows = nullptr;
};

struct PlaceTime {
  std::uint32_t place;  // of LinePlaces
  SampleTime time;
};

struct WindowedLines {
  LineKey key = LineKey::expression;
  std::vector<bool> hidden;  // files, as in LineOptions
};

// Calls `use` once for each window of a thread that has samples, with the time of each innermost
// place that is shown. A sample counts where it was taken; while a thread stood still, each window
// has its part of the time.
using WindowUse = std::function<void(const WindowedThread& thread, const SampleWindow& window,
                                     const std::vector<PlaceTime>& times)>;
void scan_windows(const Recording& recording, const std::vector<WindowedThread>& threads,
                  const WindowedLines& lines, std::vector<LinePlace>& places, const WindowUse& use);

}  // namespace nvspan::reader
