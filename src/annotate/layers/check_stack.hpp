// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Check mode's record of what is open: a stack for each thread, and the start/end ranges of the
// process. One lock guards all of it; nothing of the host's is called under it.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "annotate/layers/check.hpp"

namespace nvspan::annotate::check {

struct CheckedRange {
  const void* owner = nullptr;  // the annotation; null for push_range
  const Domain* domain = nullptr;
  const void* handle = nullptr;  // of the domain
  uint64_t epoch = 0;            // of the tool that it was sent to
  uint32_t site = 0;
  bool started = false;  // a start/end range
  bool reported = false;
  const void* task = nullptr;  // the coroutine that it was opened in
  std::string name;

  void set_name(const char* text, size_t size);
  std::string domain_name() const;  // empty: the default domain
};

enum class Where { this_thread, other_threads };

// Nothing if the tool has changed since: no pop of the range will be sent, and none noted.
void push_entry(const CheckedRange& entry);

// Removes the innermost range of that domain on this thread.
bool take_innermost(const void* domain_handle, CheckedRange& out);

// Removes the innermost range of `owner` on this thread. `inside` gets those of the same domain
// that were opened after it and not reported yet.
bool take_owned(const void* owner, CheckedRange& out, std::vector<CheckedRange>& inside);

// The innermost range that push_range opened, of `domain` or of any; the owner's innermost range.
bool find_pushed(const Domain* domain, Where where, CheckedRange& out);
bool find_owned(const void* owner, Where where, CheckedRange& out);

void add_span(uint64_t id, CheckedRange entry);

enum class SpanState { open, ended, other_domain, unknown };

// Notes the end of a span and gives its state before. `ended_at` is the site of an earlier end.
SpanState end_span_entry(uint64_t id, const void* domain_handle, CheckedRange& out,
                         uint32_t& ended_at);

// Forgets everything: what is open now will not be checked. `complete`: no range was started
// before, so that an unknown id is an error.
void clear_entries(bool complete);

// Calls report_open for all that is open in the process, once each.
void report_all_open();

// This thread's notes between the emitting code and the table over the tool.
void set_pop_noted(bool noted) noexcept;
bool pop_noted() noexcept;
void set_explicit_pop(bool is_explicit) noexcept;
bool explicit_pop() noexcept;

}  // namespace nvspan::annotate::check
