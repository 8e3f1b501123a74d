// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges of the CPU projected onto the GPU. A piece of work belongs to every range of the thread
// that launched it during which the whole launching call lay.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/scan/selection.hpp"
#include "reader/tables/tables.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace nvspan::reader {

struct ProjectionOptions {
  // The domain of rows that are calls, not ranges, with their numbers as payloads, and that of what
  // the GPU did, with the number of the call that launched it. Where nothing is in the second,
  // device ranges of all domains are what the GPU did, and the ranges around their calls launched
  // them.
  std::string_view call_domain, work_domain;
  // Work of the categories called so is left out.
  std::vector<std::string> without;
  // When ranges that did not end do; none: at the last moment known.
  std::optional<std::int64_t> unclosed_end;
  bool with_pairs = false;
};

// Of the ranges with work, in the order of their rows: a value for each in every column.
struct Projection {
  std::vector<std::int64_t> row;
  std::vector<std::int64_t> end;          // of the range
  std::vector<std::int64_t> first, last;  // the first start and the last end on the GPU
  std::vector<std::int64_t> sum, busy;    // durations; time with one at least under way
  std::vector<std::int64_t> exclusive;    // durations of what no range within this one launched
  std::vector<std::int64_t> ops, calls;   // pieces of work, and the calls that launched them
  std::vector<std::int64_t> level;        // how many ranges of its thread are around it
  std::vector<std::int64_t> parent;       // the row of the tightest of them; -1: none
  std::vector<std::int64_t> children;     // ranges with work whose parent it is
  // What the autograd threads launched for it, by sequence number; it is in no other column.
  std::vector<std::int64_t> backward_ops, backward_sum, backward_busy;

  std::size_t size() const noexcept { return row.size(); }

  // Work that no range holds.
  std::uint64_t outside = 0;
  std::int64_t outside_first = 0, outside_last = 0, outside_calls = 0;
  std::uint64_t work = 0;        // all of it
  std::uint64_t unlaunched = 0;  // of it what no call is known for
  bool of_device_ranges = false;
  // Each piece of work with each range that holds it, by their rows, or with no_range, and the
  // thread that launched it, -1 where that is not known; only where asked for.
  static constexpr std::uint64_t no_range = static_cast<std::uint64_t>(-1);
  struct Pair {
    std::uint64_t work, range;
    std::int64_t thread;
  };
  std::vector<Pair> pairs;
};

// Those that the selection takes; the others are still around them.
Projection project(const Recording& recording, const Tables& tables, const Selection& selection,
                   const ProjectionOptions& options);

}  // namespace nvspan::reader
