// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Which module of a model a launch is of: that of the innermost range of a module around it. What
// autograd launches from its own threads is of the module whose backward range is around it; with
// the ranges of torch's emit_nvtx, of the module whose forward pass holds the range that has the
// sequence number.

#pragma once

#include "reader/file/recording.hpp"
#include "reader/projection/cpu_ranges.hpp"

#include <cstdint>
#include <map>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

namespace nvspan::reader {

// Takes the mark of a forward pass that autograd repeats off a module's name; false: it has none.
bool drop_repeat_mark(std::string_view& name) noexcept;

class ModuleSites {
 public:
  struct Pass {
    std::int32_t module = no_name;  // its name; no_name: none
    bool backward = false;
  };

  // `forward`: sites of the forward passes. Backward, or one that repeats a forward pass, is what
  // is called so in the same domain.
  ModuleSites(const Recording& recording, const std::vector<std::uint32_t>& forward);

  // Before the first pass_of().
  void find_numbers(const CpuRanges& ranges);
  // Of a launch at that time, whose innermost range is the thread's at `place`.
  Pass pass_of(const CpuRanges& ranges, std::uint32_t thread, std::uint32_t place,
               std::int64_t time) const;

 private:
  struct Sequence {
    std::optional<std::int64_t> number;
    bool is_backward = false;
  };
  struct Place {
    std::int64_t start;
    std::uint32_t thread;
    std::uint32_t place;
  };

  const Recording& recording_;
  std::vector<Pass> passes_;         // of each site
  std::vector<Sequence> sequences_;  // likewise; empty: no site has one
  std::map<std::pair<std::uint32_t, std::int64_t>, std::vector<Place>> forward_;  // by start
};

}  // namespace nvspan::reader
