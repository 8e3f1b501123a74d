// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/event/open_ranges.hpp"

#include <cstdlib>
#include <cstring>

namespace nvspan::annotate {

namespace detail {

std::atomic<const CheckHook*> active_check_hook{nullptr};

}  // namespace detail

namespace {

// Frees the record when its thread ends. Apart from the record, which must stay plain data.
struct ReleaseOpenRanges {
  ~ReleaseOpenRanges() {
    OpenRanges& open = detail::open_ranges;
    std::free(open.entries);
    open = {nullptr, 0, 0};
  }
};

void remove_one(OpenRanges& open, uint32_t index) noexcept {
  OpenRange& entry = open.entries[index];
  if (--entry.count) return;
  std::memmove(&entry, &entry + 1, (open.size - index - 1) * sizeof(OpenRange));
  --open.size;
}

std::atomic<uint64_t> dropped{0};

bool grow(OpenRanges& open) noexcept {
  constexpr uint32_t most_entries = 1u << 20;
  if (open.capacity >= most_entries) return false;
  thread_local ReleaseOpenRanges release;
  (void)&release;
  const uint32_t capacity = open.capacity ? open.capacity * 2 : 64;
  void* entries = std::realloc(open.entries, capacity * sizeof(OpenRange));
  if (!entries) return false;
  open.entries = static_cast<OpenRange*>(entries);
  open.capacity = capacity;
  return true;
}

}  // namespace

uint64_t dropped_pushes() noexcept { return dropped.load(); }

void detail::note_push_growing(const void* owner, Domain* domain, uint64_t epoch) noexcept {
  OpenRanges& open = open_ranges;
  if (grow(open)) {
    open.entries[open.size++] = {owner, domain, epoch, 1};
  } else {
    ++dropped;
  }
}

void detail::close_buried_range(const void* owner) noexcept {
  OpenRanges& open = open_ranges;
  for (uint32_t i = open.size; i-- > 0;) {
    if (open.entries[i].owner != owner) continue;
    const OpenRange closed = open.entries[i];
    remove_one(open, i);
    const CheckHook* const check = check_hook();
    if (check) check->enter_buried_exit(owner);
    pop_if_current(*closed.domain, closed.epoch);
    if (check) check->leave_buried_exit();
    return;
  }
  if (const CheckHook* check = check_hook()) check->exit_without_enter(owner);
}

bool has_open_range(const void* owner) noexcept {
  const OpenRanges& open = detail::open_ranges;
  for (uint32_t i = open.size; i-- > 0;) {
    if (open.entries[i].owner == owner) return true;
  }
  return false;
}

void detail::pop_buried_domain(Domain& domain) noexcept {
  OpenRanges& open = open_ranges;
  for (uint32_t i = open.size; i-- > 0;) {
    if (open.entries[i].domain != &domain) continue;
    const uint64_t epoch = open.entries[i].epoch;
    remove_one(open, i);
    pop_if_current(domain, epoch);
    return;
  }
  if (const CheckHook* check = check_hook()) check->pop_without_push(domain);
  const ToolTable* tool = listening_tool();
  if (tool && domain.connected(*tool)) send_pop(domain, *tool);
}

}  // namespace nvspan::annotate
