// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "bindings/event/open_spans.hpp"

namespace nvspan::bindings {

void OpenSpans::add(const void* frame, unsigned long thread, const OpenEntry& open) {
  std::lock_guard<object_mutex> lock(mutex_);
  entries_.emplace(frame, Entry{open, thread, ++last_order_});
}

bool OpenSpans::take(Entries::iterator found, OpenEntry& open) noexcept {
  if (found == entries_.end()) return false;
  open = found->second.open;
  entries_.erase(found);
  return true;
}

bool OpenSpans::take_of_frame(const void* frame, OpenEntry& open) noexcept {
  std::lock_guard<object_mutex> lock(mutex_);
  const auto range = entries_.equal_range(frame);
  auto newest = entries_.end();
  for (auto entry = range.first; entry != range.second; ++entry) {
    if (newest == entries_.end() || entry->second.order > newest->second.order) newest = entry;
  }
  return take(newest, open);
}

bool OpenSpans::take_newest(unsigned long thread, bool any, OpenEntry& open) noexcept {
  std::lock_guard<object_mutex> lock(mutex_);
  auto newest = entries_.end();
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (!any && entry->second.thread != thread) continue;
    if (newest == entries_.end() || entry->second.order > newest->second.order) newest = entry;
  }
  return take(newest, open);
}

}  // namespace nvspan::bindings
