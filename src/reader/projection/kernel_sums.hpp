// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What the GPU did, kernel by kernel: all calls of one, or those that a range or a module launched.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/scan/selection.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace nvspan::reader {

enum class KernelGroups : std::uint8_t { name, range, module };

struct KernelOptions {
  KernelGroups by = KernelGroups::name;
  // Domains of calls, and of what they launched, as a tool saw them.
  std::string call_domain;
  std::vector<std::string> work_domains;
  // Sites of the forward passes of modules; what has their name and is backward, or repeats one, is
  // of the same module.
  std::vector<std::uint32_t> forward;
  // Sites of ranges: work that was launched in none of them does not count; empty: all does.
  std::vector<bool> within;
};

struct KernelTimes {
  std::uint32_t kernel = 0;  // a site of its name and kind: the one with the most time
  std::uint32_t shapes = 0;  // how many sites, which differ by their shapes; 1,024 at most
  std::int64_t range = -1;   // a site: of the innermost range; by name that with the most time
  std::uint32_t ranges = 0;  // by name: how many names of ranges launched it
  std::int32_t module = no_name;
  bool backward = false;
  std::uint64_t count = 0;
  std::int64_t total = 0, shortest = 0, longest = 0;
  std::int64_t first = 0;  // when the first was launched, or else began
  double median = -1;      // below 0: too many rows to keep durations
};

struct KernelWork {
  std::vector<KernelTimes> rows;     // the most time first
  std::uint64_t count = 0;           // pieces of work
  std::int64_t total = 0;            // their durations
  std::int64_t busy = 0;             // time with one under way, over all devices
  std::int64_t first = 0, last = 0;  // the first start and the last end
  std::uint64_t outside = 0;         // launched in no range
  std::uint64_t unlaunched = 0;      // of no known call
  std::uint64_t devices = 0;
  bool has_work = false;  // in the recording
};

// Of the work that the selection takes; ranges around it are those of the whole recording.
KernelWork sum_kernel_times(const Recording& recording, const Selection& selection,
                            const KernelOptions& options);

}  // namespace nvspan::reader
