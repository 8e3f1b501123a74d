// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Mode `stats`: since when the calls of a profile's generators and coroutines are suspended.

#pragma once

#include "nvtx/stretch.hpp"

#include <atomic>
#include <cstdint>

namespace nvspan::record {

using nvtx::StretchKind;

// A stretch that is open, as OpenPush keeps it: how it began, and the number of its call, which has
// fewer than 62 bits. 0: the range is no stretch.
struct OpenStretch {
  static constexpr unsigned kind_shift = 62;
  static constexpr std::uint64_t call_mask = (std::uint64_t{1} << kind_shift) - 1;

  std::uint64_t bits;

  static OpenStretch of(StretchKind kind, std::uint64_t call) noexcept {
    if (__builtin_expect(kind == StretchKind::none, 1)) return {0};
    return {static_cast<std::uint64_t>(kind) << kind_shift | (call & call_mask)};
  }
  explicit operator bool() const noexcept { return bits != 0; }
  StretchKind kind() const noexcept { return static_cast<StretchKind>(bits >> kind_shift); }
  std::uint64_t call() const noexcept { return bits & call_mask; }
};

// Each call's place. Threads share the places: a call may go on in another one, after it was
// suspended there.
class SuspendedCalls {
 public:
  // The call of a stretch is suspended at `end`, or has ended; returns the ticks from its last
  // suspension to `begin`. 0: that was not seen.
  std::uint64_t suspend(OpenStretch stretch, std::uint64_t begin, std::uint64_t end) noexcept {
    Place& place = places_[stretch.call() % nvtx::stretch_places];
    std::uint64_t awaited = 0;
    if (place.call.load(std::memory_order_relaxed) == stretch.call()) {
      const std::uint64_t since = place.since.load(std::memory_order_relaxed);
      if (stretch.kind() != StretchKind::begins && begin > since) awaited = begin - since;
    }
    place.since.store(end, std::memory_order_relaxed);
    place.call.store(stretch.call(), std::memory_order_relaxed);
    return awaited;
  }

 private:
  struct Place {
    std::atomic<std::uint64_t> call;
    std::atomic<std::uint64_t> since;  // ticks
  };
  Place places_[nvtx::stretch_places];
};

}  // namespace nvspan::record
