// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Ranges of the CPU projected onto the GPU. A piece of work belongs to every range of the thread
// that launched it during which its launch began. Work of a replayed graph belongs to the ranges
// that its launch was captured in, too: they are there once more for each replay.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/scan/selection.hpp"

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace nvspan::reader {

struct ProjectionOptions {
  // The domain of rows that are calls, not ranges, and that of what the GPU did. Where nothing is
  // in the second, device ranges of all domains are what the GPU did, and the ranges around their
  // calls launched them.
  std::string_view call_domain, work_domain;
  // Work of the categories called so is left out.
  std::vector<std::string> without;
  // When ranges that did not end do; none: at the last moment known.
  std::optional<std::int64_t> unclosed_end;
  bool with_pairs = false;
  // As Nsight Systems has it: device ranges are start/end ranges of the thread that submitted them,
  // and nvspan's own kernels are work.
  bool as_nsys = false;
};

// Of the ranges with work, in the order of their rows: a value for each in every column.
struct Projection {
  std::vector<std::int64_t> row;
  std::vector<std::int64_t> site, thread, kind;
  std::vector<std::int64_t> start, end;   // of the range
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

  std::uint64_t outside = 0;     // pieces of work that no range holds
  std::uint64_t work = 0;        // all of it
  std::uint64_t unlaunched = 0;  // of it what no call is known for
  bool of_device_ranges = false;
  // Each piece of work with each range that holds it, or with none, and the thread that launched
  // it, -1 where that is not known; only where asked for.
  static constexpr std::uint64_t no_range = static_cast<std::uint64_t>(-1);
  struct Pair {
    std::uint64_t work = 0;     // its number
    std::int64_t duration = 0;  // of the work
    std::uint32_t work_site = 0;
    std::uint32_t range_site = 0;
    std::uint64_t range = no_range;  // its row
    RangeKind kind = RangeKind::push_pop;
    std::int64_t thread = -1;
  };
  std::vector<Pair> pairs;
};

// Those that the selection takes; the others are still around them.
Projection project(const Recording& recording, const Selection& selection,
                   const ProjectionOptions& options);

}  // namespace nvspan::reader
