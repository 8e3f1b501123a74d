// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The ranges of the CPU, thread by thread in the order of their starts, and which of them are open
// at a time. Ranges of different domains, and start/end ranges, may overlap without nesting.

#pragma once

#include "core/memory/large_pages.hpp"
#include "reader/file/recording.hpp"

#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace nvspan::reader {

struct CpuRange {
  std::int64_t start = 0, end = 0;
  std::uint64_t row = 0;  // of Tables
  std::uint32_t site = 0;
  std::uint32_t around = 0;  // of those open at its start the one that began last; `no_place`
  std::uint32_t lane = 0;    // of Recording::threads()
  RangeKind kind = RangeKind::push_pop;
};

class CpuRanges {
 public:
  static constexpr std::uint32_t no_place = std::numeric_limits<std::uint32_t>::max();

  // Those that a thread ended itself; what did not end lasts until the time given, or until the
  // last moment known. `wanted` sites alone; ranges of devices lie on the thread that sent them.
  CpuRanges(const Recording& recording, const std::vector<bool>& wanted,
            std::optional<std::int64_t> unclosed_end = std::nullopt);

  // The number for all lanes of a thread, as one that another file continues has several; no_place:
  // it has no events.
  std::uint32_t thread_called(std::uint32_t process, std::uint32_t tid) const;
  std::uint32_t threads() const noexcept { return static_cast<std::uint32_t>(threads_.size()); }
  std::uint32_t process_of(std::uint32_t thread) const { return processes_[thread]; }
  const core::LargeVector<CpuRange>& of_thread(std::uint32_t thread) const {
    return threads_[thread];
  }

  // The place in of_thread() of the one that began last of those open at that time; no_place: none
  // is. Quick where times grow.
  std::uint32_t at(std::uint32_t thread, std::int64_t time);
  // The same, where times come in no order; what is quick stays so.
  std::uint32_t find(std::uint32_t thread, std::int64_t time) const;
  // The next one around it that is open at that time.
  std::uint32_t around(std::uint32_t thread, std::uint32_t place, std::int64_t time) const {
    return open_from(threads_[thread], threads_[thread][place].around, time);
  }

 private:
  class Collector;
  static std::uint32_t open_from(const core::LargeVector<CpuRange>& ranges, std::uint32_t place,
                                 std::int64_t time) {
    while (place != no_place && ranges[place].end < time) place = ranges[place].around;
    return place;
  }
  void order(core::LargeVector<CpuRange>& ranges) const;

  std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> numbers_;
  std::vector<std::uint32_t> processes_;
  std::vector<core::LargeVector<CpuRange>> threads_;
  std::vector<std::size_t> next_;  // of each thread: where the last search ended
};

}  // namespace nvspan::reader
