// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The start/end ranges that are open on one annotation. A range id belongs to the entry: tasks and
// threads may be inside the same object at once and leave it in any order. An exit finds its entry
// by the frame that entered; failing that it takes the newest entry of its thread, then the newest.

#include <cstddef>
#include <mutex>
#include <unordered_map>

#include "bindings/py.hpp"
#include "annotate/event.hpp"

namespace nvspan {

class OpenSpans {
 public:
  void add(const void* frame, unsigned long thread, const Span& span);

  // Removes the newest entry of `frame`. False if it has none.
  bool take_of_frame(const void* frame, Span& span) noexcept;

  // Removes the newest entry of `thread`, or with `any` the newest of all. False if there is none.
  bool take_newest(unsigned long thread, bool any, Span& span) noexcept;

  bool empty() const noexcept { return entries_.empty(); }
  void clear() noexcept { entries_.clear(); }

 private:
  struct Entry {
    Span span;
    unsigned long thread;
    uint64_t order;
  };
  using Entries = std::unordered_multimap<const void*, Entry>;

  bool take(Entries::iterator found, Span& span) noexcept;

  object_mutex mutex_;
  Entries entries_;
  uint64_t last_order_ = 0;
};

}  // namespace nvspan
