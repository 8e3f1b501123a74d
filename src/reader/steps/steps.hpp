// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The steps of a recording: ranges that repeat, such as those of a training loop. Each moment of a
// step belongs to one phase of it, the innermost that is open on the step's thread, so phases add
// up to the step. Work of a GPU belongs to the step and the phase in which it was launched.

#pragma once

#include "core/memory/large_pages.hpp"
#include "reader/file/recording.hpp"
#include "reader/loops/holds.hpp"
#include "reader/loops/loop_steps.hpp"
#include "reader/loops/parts.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace nvspan::reader {

// What a site stands for.
enum class StepRole : std::uint8_t {
  none,
  step,
  synchronising,  // the CPU waits for the GPU
  phase,          // the phases from here on: the first is `phase`, the second `phase` + 1, ...
};
constexpr std::size_t most_phases = 64;

struct StepOptions {
  std::vector<std::uint8_t> roles;  // of each site: a StepRole
  // How many phases the roles name; the time outside them is one more, the last.
  std::size_t phases = 0;
  // Parts are ranges directly within a step, and not at any depth.
  bool direct = false;
  // The domain of calls, with their numbers as payloads, and those of what they launched, as a tool
  // saw them. Where nothing is in these, device ranges of all domains are what the GPU did.
  std::string call_domain;
  std::vector<std::string> work_domains;
  // Which ranges of the role of a step are steps; of a cycle, which times are.
  const LoopSteps* chosen = nullptr;
};

// Columns with a value for each step, ns unless said otherwise.
struct Steps {
  std::size_t phases = 0;  // with the one for the time outside them
  core::LargeVector<std::int64_t> process, thread;
  core::LargeVector<std::int64_t> has_number, number;  // its payload
  core::LargeVector<std::int64_t> start, duration;
  // `phases` values for each step.
  core::LargeVector<std::int64_t> cpu, gpu;
  // Time of the step in which the GPU had no work, by what the CPU was in: `phases` values, and one
  // for the time in which it waited for the GPU, for each step.
  core::LargeVector<std::int64_t> idle;
  core::LargeVector<std::int64_t> busy;  // with one piece of its work at least under way
  core::LargeVector<std::int64_t> ops;   // pieces of work that it launched
  core::LargeVector<std::int64_t>
      ahead;  // from a launch to the beginning of its work, the median; -1
  // From the end of the phase that launched it to its own end, the median; `not_known`.
  core::LargeVector<std::int64_t> behind;
  // For the GPU: time, and how often. Where CUDA's calls are not recorded, in copies to the host
  // that their thread must have waited for.
  core::LargeVector<std::int64_t> waits, wait_calls;

  static constexpr std::int64_t not_known = std::numeric_limits<std::int64_t>::min();

  std::size_t size() const noexcept { return start.size(); }
  // Gives the columns about work a value for each step.
  void fit_work();
  // Of steps in which a GPU's work was not recorded, or not all of it, nothing is known of it.
  void leave_gaps_out(const std::vector<ReadGap>& gaps);
  bool is_gap(std::size_t step) const { return !in_gap.empty() && in_gap[step]; }

  std::vector<bool> in_gap;        // empty: no step is
  bool has_work = false;           // of a GPU
  bool of_device_ranges = false;   // which stand for it, as no kernel was seen
  std::uint64_t graphs = 0;        // pieces of work that are graphs: idle in them is not known
  std::uint64_t outside = 0;       // pieces of work that no step launched
  std::uint64_t unshared = 0;      // of which nothing tells which of several steps did
  std::uint64_t by_run_time = 0;   // whose launch is not known: they belong where they ran
  std::uint64_t unclosed = 0;      // steps that did not end, or in another thread
  std::uint64_t devices_left = 0;  // devices that `idle` is not about: the busiest one is
};

Steps find_steps(const Recording& recording, const StepOptions& options);

// From the series of parts directly within steps, which may overlap each other: `phases` are places
// of tree.parts. Without work of a GPU, of which there is none here, and with no part left out,
// find_steps() has the same. With `held`, whose groups are those of the parts, the time in which
// another step holds the event loop is a phase of its own, the last but one.
Steps steps_by_parts(const Recording& recording, const LoopSteps& chosen, const LoopTree& tree,
                     const std::vector<std::size_t>& phases, const HeldRequests* held);

}  // namespace nvspan::reader
