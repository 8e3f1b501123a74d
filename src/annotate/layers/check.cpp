// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/layers/check.hpp"

#include "annotate/event/event.hpp"
#include "annotate/layers/check_reports.hpp"
#include "annotate/layers/check_stack.hpp"
#include "core/text/printable.hpp"

namespace nvspan::annotate {

namespace {

using check::CheckedRange;

std::string quoted(const std::string& name) { return "'" + core::plain_text(name) + "'"; }
std::string in_domain(const std::string& domain) {
  return domain.empty() ? "the default domain" : "domain " + quoted(domain);
}
std::string at(uint32_t site) { return check::site_text(site); }
const char* verb(const CheckedRange& entry) {
  return entry.started ? "started" : entry.owner ? "entered" : "pushed";
}
std::string opened(const CheckedRange& entry) {
  return quoted(entry.name) + " (" + verb(entry) + " at " + at(entry.site) + ")";
}
std::string name_of_domain(const Domain& domain) {
  return domain.is_default() ? std::string() : domain.name();
}

}  // namespace

namespace check {

namespace {

void pop_without_push(const Domain& domain) noexcept {
  const uint32_t site = call_site();
  const std::string name = name_of_domain(domain);
  const std::string start = "pop_range() at " + at(site) + " closes nothing: no range of " +
                            in_domain(name) + " is open on this thread";
  CheckedRange found;
  if (find_pushed(&domain, Where::other_threads, found)) {
    report(CheckKind::pop_on_other_thread, site, found.site,
           start + "; " + opened(found) + " is open on another thread, and stays open");
  } else if (find_pushed(nullptr, Where::this_thread, found)) {
    report(CheckKind::pop_in_wrong_domain, site, found.site,
           start + "; the innermost open range is " + opened(found) + " of " +
               in_domain(found.domain_name()));
  } else {
    report(CheckKind::pop_of_nothing, site, 0, start);
  }
}

void exit_without_enter(const void* owner) noexcept {
  CheckedRange found;
  if (!find_owned(owner, Where::other_threads, found)) return;
  const uint32_t site = call_site();
  report(CheckKind::pop_on_other_thread, site, found.site,
         "the exit at " + at(site) + " belongs to " + opened(found) +
             " on another thread and closes nothing: the range stays open there");
}

void enter_buried_exit(const void* owner) noexcept {
  std::vector<CheckedRange> inside;
  CheckedRange closed;
  const bool known = take_owned(owner, closed, inside);
  set_pop_noted(known);
  if (inside.empty()) return;
  const uint32_t site = call_site();
  for (const CheckedRange& entry : inside) {
    report(CheckKind::closed_out_of_order, entry.site, closed.site,
           opened(entry) + " is still open when " + opened(closed) +
               ", which encloses it, ends at " + at(site) + ": a tool sees the wrong range end");
  }
}

void leave_buried_exit() noexcept { set_pop_noted(false); }

}  // namespace

const CheckHook hook = {pop_without_push, exit_without_enter, enter_buried_exit, leave_buried_exit};

void forget_open_ranges() noexcept { clear_entries(false); }

ExplicitPop::ExplicitPop() noexcept { set_explicit_pop(true); }
ExplicitPop::~ExplicitPop() { set_explicit_pop(false); }

void note_push(const void* attributes) noexcept {
  const auto& event = *static_cast<const Outgoing*>(attributes);
  CheckedRange entry;
  entry.owner = event.owner;
  entry.domain = event.source->domain;
  entry.handle = event.domain;
  entry.epoch = event.epoch;
  entry.site = call_site();
  entry.task = current_task();
  entry.set_name(event.source->text, event.source->text_size);
  push_entry(entry);
}

void note_pop(const void* domain_handle) noexcept {
  CheckedRange entry;
  if (pop_noted() || !take_innermost(domain_handle, entry)) return;
  if (explicit_pop() && entry.owner) {
    const uint32_t site = call_site();
    report(CheckKind::pop_of_annotation, site, entry.site,
           "pop_range() at " + at(site) + " closes " + opened(entry) +
               ", which belongs to an annotation and ends automatically");
  }
  if (entry.task && current_task() != entry.task) {
    const uint32_t site = call_site();
    report(CheckKind::pop_in_other_task, site, entry.site,
           "the pop at " + at(site) + " closes " + opened(entry) +
               ", which another task opened: across an await use start_range, span or "
               "`with annotate`");
  }
}

void note_start(const void* attributes, uint64_t id) noexcept {
  const auto& event = *static_cast<const Outgoing*>(attributes);
  CheckedRange entry;
  entry.domain = event.source->domain;
  entry.handle = event.domain;
  entry.site = call_site();
  entry.started = true;
  entry.set_name(event.source->text, event.source->text_size);
  add_span(id, entry);
}

void note_end(const void* domain_handle, uint64_t id) noexcept {
  CheckedRange entry;
  uint32_t ended_at = 0;
  const SpanState before = end_span_entry(id, domain_handle, entry, ended_at);
  if (before == SpanState::open) return;
  const uint32_t site = call_site();
  const std::string start = "end_range() at " + at(site);
  const std::string range = quoted(entry.name) + " (started at " + at(entry.site) + ")";
  switch (before) {
    case SpanState::ended:
      report(CheckKind::ended_twice, site, ended_at,
             start + " ends " + range + " again: it was ended at " + at(ended_at));
      break;
    case SpanState::other_domain:
      report(CheckKind::end_in_wrong_domain, site, entry.site,
             start + " names the wrong domain: " + range + " belongs to " +
                 in_domain(entry.domain_name()));
      break;
    default:
      report(CheckKind::end_of_unknown, site, 0,
             start + " ends a range that nvspan did not start (id " + std::to_string(id) + ")");
  }
}

void end_again(uint64_t id, const Domain& domain) noexcept {
  if (id != 0) note_end(domain.handle(), id);
}

void report_open(const CheckedRange& entry, bool of_process) noexcept {
  report_at_exit(
      of_process ? CheckKind::open_at_exit : CheckKind::open_at_thread_exit, entry.site,
      opened(entry) + " of " + in_domain(entry.domain_name()) +
          (of_process ? " is still open at exit" : " is still open at the end of its thread"));
}

}  // namespace check

const char* name_of(CheckKind kind) noexcept {
  switch (kind) {
    case CheckKind::pop_of_nothing:
      return "pop_of_nothing";
    case CheckKind::pop_in_wrong_domain:
      return "pop_in_wrong_domain";
    case CheckKind::pop_on_other_thread:
      return "pop_on_other_thread";
    case CheckKind::pop_of_annotation:
      return "pop_of_annotation";
    case CheckKind::closed_out_of_order:
      return "closed_out_of_order";
    case CheckKind::pop_in_other_task:
      return "pop_in_other_task";
    case CheckKind::ended_twice:
      return "ended_twice";
    case CheckKind::end_of_unknown:
      return "end_of_unknown";
    case CheckKind::end_in_wrong_domain:
      return "end_in_wrong_domain";
    case CheckKind::open_at_thread_exit:
      return "open_at_thread_exit";
    case CheckKind::open_at_exit:
      return "open_at_exit";
  }
  return "";
}

}  // namespace nvspan::annotate
