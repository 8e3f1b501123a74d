// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Check mode: finds annotations that do not pair up.
//
// While it is on, a dispatch table of ours lies over the tool's (check_layer.cpp) and keeps a
// record of what each thread has open and where that was opened. What the emitting code asks of it
// is annotate/event/check_hook.hpp.

#include <cstdint>
#include <string>
#include <vector>

#include "annotate/event/check_hook.hpp"

namespace nvspan::annotate {

struct ToolTable;

enum class CheckKind : uint8_t {
  pop_of_nothing,
  pop_in_wrong_domain,
  pop_on_other_thread,
  pop_of_annotation,
  closed_out_of_order,
  pop_in_other_task,
  ended_twice,
  end_of_unknown,
  end_in_wrong_domain,
  open_at_thread_exit,
  open_at_exit,
};

const char* name_of(CheckKind kind) noexcept;

// What was wrong, at which call, and how often.
struct CheckReport {
  CheckKind kind;
  uint32_t site;   // of the call at fault
  uint32_t other;  // of the call that it does not fit; 0: none
  uint64_t count;
  std::string text;
};

// What only the host language knows. All but `report` are called with its lock held.
struct CheckHost {
  uint32_t (*call_site)() noexcept;  // an id of the calling line; 0: unknown
  std::string (*site_text)(uint32_t site);
  const void* (*current_task)() noexcept;  // the outermost coroutine; null: none
  // `calling`: from a call that may fail; else at the exit of a thread or of the process, without
  // the host's lock. `first`: the first report of its kind and sites.
  void (*report)(const CheckReport& report, bool first, bool calling) noexcept;
};

// Switches check mode on and off. Ranges that were open before are closed as before and not
// checked.
void start_checking(const CheckHost& host) noexcept;
void stop_checking() noexcept;

// Copies of all reports so far, in order. Bounded: `lost` counts those that found no room.
std::vector<CheckReport> check_reports(uint64_t& lost);

// Reports what is still open anywhere in the process.
void check_at_exit() noexcept;

namespace check {

// What the emitting code is given while check mode is on.
extern const CheckHook hook;

// A range is ended that had been ended before. Only while checking().
void end_again(uint64_t id, const Domain& domain) noexcept;

// Lies around a pop_range: what it closes should not be an annotation's.
class ExplicitPop {
 public:
  ExplicitPop() noexcept;
  ~ExplicitPop();
  ExplicitPop(const ExplicitPop&) = delete;
  ExplicitPop& operator=(const ExplicitPop&) = delete;
};

// What the table over the tool's notes (check_layer.cpp).
void note_push(const void* attributes) noexcept;
void note_pop(const void* domain_handle) noexcept;
void note_start(const void* attributes, uint64_t id) noexcept;
void note_end(const void* domain_handle, uint64_t id) noexcept;

// As ToolLayer has them: what was noted of another tool's ranges is forgotten.
bool wanted() noexcept;
ToolTable* table_over(const ToolTable* tool) noexcept;
void forget_open_ranges() noexcept;

}  // namespace check

}  // namespace nvspan::annotate
