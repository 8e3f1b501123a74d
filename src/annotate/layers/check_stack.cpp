// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/layers/check_stack.hpp"

#include <algorithm>
#include <deque>
#include <mutex>
#include <unordered_map>

#include "annotate/event/domain.hpp"
#include "annotate/layers/check_reports.hpp"
#include "annotate/tool/attachment.hpp"
#include "core/os/fork_lock.hpp"

namespace nvspan::annotate::check {

namespace {

struct Stack {
  std::vector<CheckedRange> entries;
};

struct EndedSpan {
  CheckedRange entry;
  uint32_t ended_at = 0;
};

// Immortal: threads outlive the module.
struct Record {
  std::mutex mutex;
  std::vector<Stack*> stacks;  // of the threads that live
  std::unordered_map<uint64_t, CheckedRange> spans;
  std::unordered_map<uint64_t, EndedSpan> ended;  // the last of them
  std::deque<uint64_t> ended_order;
  bool complete = false;
  bool process_ends = false;  // what is open has been told
};

Record& record() noexcept {
  static Record* const it = new Record;
  return *it;
}

// Whether a pop of the range would be sent, and noted. Under the lock: the entries are cleared
// after a change of the epoch.
bool is_current(const CheckedRange& entry) noexcept {
  const ToolTable* tool = closing_tool();
  return tool && tool->epoch.load(std::memory_order_acquire) == entry.epoch;
}

void drop_stack(Stack* stack) noexcept {
  std::vector<CheckedRange> left;
  bool process_ends = false;
  bool checked = false;
  {
    std::lock_guard<std::mutex> lock(record().mutex);
    process_ends = record().process_ends;
    checked = checking();
    auto& stacks = record().stacks;
    stacks.erase(std::remove(stacks.begin(), stacks.end(), stack), stacks.end());
    for (CheckedRange& entry : stack->entries) {
      if (is_current(entry)) left.push_back(std::move(entry));
    }
    stack->entries.clear();
  }
  // The interpreter's end kills threads: they have left nothing open.
  if (!checked || process_ends) return;
  for (const CheckedRange& entry : left) {
    if (!entry.reported) report_open(entry, false);
  }
}

struct OwnStack {
  Stack stack;
  ~OwnStack() { drop_stack(&stack); }
};

thread_local Stack* own_stack;
thread_local bool pop_is_noted;
thread_local bool pop_is_explicit;

// A forked child has one thread: what the others had open is theirs.
void keep_only_own_stack() noexcept {
  auto& stacks = record().stacks;
  stacks.clear();
  if (own_stack) stacks.push_back(own_stack);
}

std::mutex& record_mutex() noexcept { return record().mutex; }

Stack& this_threads_stack() {
  if (!own_stack) {
    thread_local OwnStack own;
    std::lock_guard<std::mutex> lock(record().mutex);
    record().stacks.push_back(&own.stack);
    own_stack = &own.stack;
  }
  return *own_stack;
}

template <class Wanted>
bool find(Where where, CheckedRange& out, Wanted&& wanted) {
  std::lock_guard<std::mutex> lock(record().mutex);
  for (const Stack* stack : record().stacks) {
    if ((stack == own_stack) != (where == Where::this_thread)) continue;
    const auto& entries = stack->entries;
    const auto found = std::find_if(entries.rbegin(), entries.rend(), wanted);
    if (found == entries.rend()) continue;
    out = *found;
    return true;
  }
  return false;
}

}  // namespace

void CheckedRange::set_name(const char* text, size_t size) {
  constexpr size_t longest = 80;
  if (text) name.assign(text, std::min(size, longest));
}

std::string CheckedRange::domain_name() const {
  return !domain || domain->is_default() ? std::string() : domain->name();
}

void push_entry(const CheckedRange& entry) {
  Stack& stack = this_threads_stack();
  std::lock_guard<std::mutex> lock(record().mutex);
  if (is_current(entry)) stack.entries.push_back(entry);
}

bool take_innermost(const void* domain_handle, CheckedRange& out) {
  if (!own_stack) return false;
  std::lock_guard<std::mutex> lock(record().mutex);
  auto& entries = own_stack->entries;
  for (size_t i = entries.size(); i-- > 0;) {
    if (entries[i].handle != domain_handle) continue;
    out = std::move(entries[i]);
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
    return true;
  }
  return false;
}

bool take_owned(const void* owner, CheckedRange& out, std::vector<CheckedRange>& inside) {
  if (!own_stack) return false;
  std::lock_guard<std::mutex> lock(record().mutex);
  auto& entries = own_stack->entries;
  for (size_t i = entries.size(); i-- > 0;) {
    if (entries[i].owner != owner) continue;
    out = std::move(entries[i]);
    entries.erase(entries.begin() + static_cast<std::ptrdiff_t>(i));
    for (; i < entries.size(); ++i) {
      if (entries[i].handle != out.handle || entries[i].reported) continue;
      entries[i].reported = true;
      inside.push_back(entries[i]);
    }
    return true;
  }
  return false;
}

bool find_pushed(const Domain* domain, Where where, CheckedRange& out) {
  return find(where, out, [domain](const CheckedRange& entry) {
    return !entry.owner && (!domain || entry.domain == domain);
  });
}

bool find_owned(const void* owner, Where where, CheckedRange& out) {
  return find(where, out, [owner](const CheckedRange& entry) { return entry.owner == owner; });
}

void add_span(uint64_t id, CheckedRange entry) {
  std::lock_guard<std::mutex> lock(record().mutex);
  record().spans[id] = std::move(entry);
}

SpanState end_span_entry(uint64_t id, const void* domain_handle, CheckedRange& out,
                         uint32_t& ended_at) {
  constexpr size_t most_remembered = 4096;
  const uint32_t site = call_site();
  Record& it = record();
  std::lock_guard<std::mutex> lock(it.mutex);
  const auto found = it.spans.find(id);
  if (found == it.spans.end()) {
    const auto before = it.ended.find(id);
    if (before == it.ended.end()) return it.complete ? SpanState::unknown : SpanState::open;
    out = before->second.entry;
    ended_at = before->second.ended_at;
    return SpanState::ended;
  }
  out = found->second;
  if (found->second.handle != domain_handle) return SpanState::other_domain;
  it.ended[id] = {std::move(found->second), site};
  it.spans.erase(found);
  it.ended_order.push_back(id);
  if (it.ended_order.size() > most_remembered) {
    it.ended.erase(it.ended_order.front());
    it.ended_order.pop_front();
  }
  return SpanState::open;
}

void clear_entries(bool complete) {
  core::hold_over_forks<record_mutex, keep_only_own_stack>();
  std::lock_guard<std::mutex> lock(record().mutex);
  for (Stack* stack : record().stacks) stack->entries.clear();
  record().spans.clear();
  record().ended.clear();
  record().ended_order.clear();
  record().complete = complete;
  record().process_ends = false;
}

void report_all_open() {
  std::vector<CheckedRange> left;
  {
    std::lock_guard<std::mutex> lock(record().mutex);
    for (Stack* stack : record().stacks) {
      for (CheckedRange& entry : stack->entries) {
        if (!entry.reported) left.push_back(entry);
        entry.reported = true;
      }
    }
    for (auto& span : record().spans) left.push_back(std::move(span.second));
    record().spans.clear();
    record().process_ends = true;
  }
  std::sort(left.begin(), left.end(),
            [](const CheckedRange& a, const CheckedRange& b) { return a.site < b.site; });
  for (const CheckedRange& entry : left) report_open(entry, true);
}

void set_pop_noted(bool noted) noexcept { pop_is_noted = noted; }
bool pop_noted() noexcept { return pop_is_noted; }
void set_explicit_pop(bool is_explicit) noexcept { pop_is_explicit = is_explicit; }
bool explicit_pop() noexcept { return pop_is_explicit; }

}  // namespace nvspan::annotate::check
