// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The start/end ranges that are open on one annotation. A range id belongs to the entry: tasks and
// threads may be inside the same object at once and leave it in any order. An exit finds its entry
// by the frame that entered; failing that it takes the newest entry of its thread, then the newest.

#include <cstddef>
#include <mutex>
#include <unordered_map>

#include "bindings/support/py.hpp"
#include "annotate/event/event.hpp"

namespace nvspan::cuda {
struct DeviceRange;
}  // namespace nvspan::cuda

namespace nvspan::bindings {

// One entry's range, and the range of the GPU that goes with it. `pushed`: the CPU range lies on
// the thread's stack of push/pop ranges, and only its epoch is here.
struct OpenEntry {
  annotate::Span span;
  cuda::DeviceRange* device = nullptr;  // one reference
  bool pushed = false;
};

class OpenSpans {
 public:
  void add(const void* frame, unsigned long thread, const OpenEntry& open);

  // Removes the newest entry of `frame`. False if it has none.
  bool take_of_frame(const void* frame, OpenEntry& open) noexcept;

  // Removes the newest entry of `thread`, or with `any` the newest of all. False if there is none.
  bool take_newest(unsigned long thread, bool any, OpenEntry& open) noexcept;

  bool empty() const noexcept { return entries_.empty(); }
  void clear() noexcept { entries_.clear(); }

 private:
  struct Entry {
    OpenEntry open;
    unsigned long thread;
    uint64_t order;
  };
  using Entries = std::unordered_multimap<const void*, Entry>;

  bool take(Entries::iterator found, OpenEntry& open) noexcept;

  object_mutex mutex_;
  Entries entries_;
  uint64_t last_order_ = 0;
};

}  // namespace nvspan::bindings
