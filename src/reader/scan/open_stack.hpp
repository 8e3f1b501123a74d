// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "reader/chunks/domain_stacks.hpp"
#include "reader/file/recording.hpp"

#include <cstdint>

namespace nvspan::reader {

struct PushRange {
  std::uint32_t site = 0;
  std::uint32_t domain = 0;  // the file's
  std::uint64_t start = 0;   // ticks
  std::uint64_t self = 0;    // ticks in which it was the innermost
  std::uint64_t row = 0;     // whatever open() returned
  std::uint32_t depth = 0;   // in its domain
  std::uint32_t level = 0;   // over all domains
  std::uint64_t inside = 0;  // how many events its thread sent while it was open
  bool shown = true;         // depth and level count those alone
};

// A thread's open ranges, with depths and the time in which each is the innermost one.
class OpenStack {
 public:
  static constexpr std::uint64_t no_row = static_cast<std::uint64_t>(-1);

  void advance(std::uint64_t ticks) {
    PushRange* const top = open_.top();
    if (top != nullptr && ticks > last_) top->self += ticks - last_;
    last_ = ticks;
  }
  std::uint64_t top_row() {
    const PushRange* const top = open_.top();
    return top == nullptr ? no_row : top->row;
  }

  PushRange& push(std::uint32_t site, std::uint32_t domain, std::uint64_t start, bool shown) {
    const std::uint32_t key = site == unknown_site ? unknown_domain : domain;
    const std::uint32_t level = count_;
    count_ += shown ? 1 : 0;
    return open_.push(key, [&](const PushRange* around) {
      const std::uint32_t depth = around == nullptr ? 0 : around->depth + (around->shown ? 1 : 0);
      return PushRange{site, domain, start, 0, no_row, depth, level, 0, shown};
    });
  }

  // Calls use(range) with the one that it closes. False: none of the domain is open.
  template <typename Use>
  [[gnu::always_inline]] bool pop(std::uint32_t domain, Use&& use) {
    return open_.pop(domain, [&](PushRange& range) {
      if (range.shown) --count_;
      use(range);
    });
  }

  // Calls `use` with what is open, the innermost first, and forgets it.
  template <typename Use>
  void drain(Use&& use) {
    open_.each_from_inside(use);
    open_.clear();
    count_ = 0;
  }

 private:
  DomainStacks<PushRange> open_;
  std::uint32_t count_ = 0;  // shown ones
  std::uint64_t last_ = 0;
};

}  // namespace nvspan::reader
