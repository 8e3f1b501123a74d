// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session/sink_capture.hpp"

#include "core/os/clock.hpp"
#include "core/os/error_line.hpp"

#include <string.h>

#include <algorithm>
#include <string_view>

namespace nvspan::inject {
namespace {

constexpr std::size_t most_unclosed = 1000;  // shown of one thread, and of the process

bool contains(std::string_view text, std::string_view part) noexcept {
  return text.find(part) != std::string_view::npos;
}

// False only where the locale names another character set: "C" and an unset one say nothing.
bool locale_takes_utf8() noexcept {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const std::string_view value = environment(name);
    if (value.empty()) continue;
    const std::size_t dot = value.find('.');
    if (dot == std::string_view::npos) return true;
    const std::string_view charset = value.substr(dot + 1);
    return contains(charset, "UTF") || contains(charset, "utf");
  }
  return true;
}

}  // namespace

trace::TextStyle SinkCapture::text_style(std::uint64_t origin) const noexcept {
  trace::TextStyle style;
  style.origin = origin;
  style.unicode = locale_takes_utf8();
  const bool plain = !environment("NO_COLOR").empty() || environment("TERM") == "dumb";
  if (!plain && output_.is_terminal()) {
    const std::string_view depth = environment("COLORTERM");
    const bool full = contains(depth, "truecolor") || contains(depth, "24bit");
    style.colors = full ? trace::ColorDepth::full : trace::ColorDepth::palette;
  }
  return style;
}

bool SinkCapture::open(const Config& config) {
  if (config.file.empty()) {
    if (!output_.use_standard_error()) return false;
  } else if (!output_.open(config.file)) {
    core::write_error_line("cannot trace into %s: %s", config.file.c_str(), output_.problem());
    return false;
  }
  if (config.format == Format::jsonl) {
    jsonl_.emplace(output_, pool_).show_payloads(decoder_, names_);
    sink_ = &*jsonl_;
  } else {
    const std::uint64_t origin = config.origin != 0 ? config.origin : core::monotonic_ns();
    text_.emplace(output_, pool_, text_style(origin)).show_payloads(decoder_, names_);
    sink_ = &*text_;
  }
  set_failed(false);
  return true;
}

void SinkCapture::close() noexcept {
  sink_ = nullptr;
  jsonl_.reset();
  text_.reset();
  output_.close();
  for (auto& entry : started_) entry.second.release(pool_);
  started_.clear();
}

void SinkCapture::write(const trace::Event& event) {
  if (has_failed() || sink_->write(event)) return;
  set_failed(true);
  if (output_.is_file()) {
    core::write_error_line("stopped tracing into %s: %s", output_.name(),
                           ::strerror(output_.error()));
  }
}

void SinkCapture::mark(ThreadState&, const DomainView& domain, trace::Event& event,
                       const record::SiteKey*) {
  if (domain.shown) write(event);
}

int SinkCapture::push(ThreadState& thread, const DomainView& domain, trace::Event& event,
                      const record::SiteKey*) {
  if (!domain.shown) return no_push_pop_tracking;
  DomainStack& stack = thread.stack(domain.handle);
  event.depth = static_cast<std::int32_t>(stack.ranges.size());
  stack.ranges.push_back(UnfinishedRange::keep(event, domain.handle, pool_));
  ++thread.nesting;
  write(event);
  return event.depth;
}

int SinkCapture::pop(ThreadState& thread, const DomainView& domain, trace::Event& event) {
  if (!domain.shown) return no_push_pop_tracking;
  DomainStack& stack = thread.stack(domain.handle);
  UnfinishedRange range;
  if (!stack.ranges.empty()) {
    range = stack.ranges.back();
    stack.ranges.pop_back();
    --thread.nesting;
    range.close(event);
    event.depth = static_cast<std::int32_t>(stack.ranges.size());
  }
  write(event);
  range.release(pool_);
  return event.depth;
}

std::uint64_t SinkCapture::start(ThreadState&, const DomainView& domain, trace::Event& event,
                                 const record::SiteKey*) {
  const std::uint64_t id = next_range_++;
  if (!domain.shown) return id;
  event.range_id = id;
  started_[id] = UnfinishedRange::keep(event, domain.handle, pool_);
  write(event);
  return id;
}

void SinkCapture::end(ThreadState&, const DomainView& domain, trace::Event& event) {
  if (!domain.shown) return;
  UnfinishedRange range;
  if (take_started(event.range_id, range)) {
    const std::int32_t nesting = event.nesting;
    range.close(event);
    event.nesting = nesting;
    if (range.domain != domain.handle) {
      fields_.push_back(trace::Field::string("started_in", registry_.domain(range.domain).name));
      event.fields = fields_.data();
      event.field_count = fields_.size();
    }
  }
  write(event);
  range.release(pool_);
}

bool SinkCapture::take_started(std::uint64_t id, UnfinishedRange& range) noexcept {
  const auto found = started_.find(id);
  if (found == started_.end()) return false;
  range = found->second;
  started_.erase(found);
  return true;
}

void SinkCapture::thread_exit(ThreadState& thread) { show_unclosed(thread, "thread_exit"); }

void SinkCapture::process_exit(ThreadState& thread, std::uint64_t lost) {
  show_unclosed(thread, "process_exit");
  show_started(thread);
  show_lost(thread, lost);
}

trace::Event SinkCapture::event_of(trace::EventKind kind, const ThreadState& thread) const {
  trace::Event event;
  event.kind = kind;
  event.pid = thread.pid;
  event.tid = thread.tid;
  event.ts = core::monotonic_ns();
  return event;
}

void SinkCapture::show_unclosed(ThreadState& thread, const char* reason) {
  std::size_t left = most_unclosed;
  for (DomainStack& stack : thread.stacks) {
    const DomainView domain = registry_.domain(stack.domain);
    for (std::size_t i = stack.ranges.size(); i-- > 0;) {
      const UnfinishedRange& range = stack.ranges[i];
      if (range.pid != thread.pid) continue;
      if (left-- == 0) return;
      const trace::Field why = trace::Field::string("reason", reason);
      trace::Event event = event_of(trace::EventKind::unclosed, thread);
      event.has_domain = true;
      event.domain = domain.name;
      event.thread_name = registry_.thread_name(thread.tid);
      range.close(event);
      event.fields = &why;
      event.field_count = 1;
      write(event);
    }
  }
}

void SinkCapture::show_started(ThreadState& thread) {
  core::PoolVector<std::uint64_t> ids(pool_);
  for (const auto& entry : started_) {
    if (entry.second.pid == thread.pid) ids.push_back(entry.first);
  }
  std::sort(ids.begin(), ids.end());
  if (ids.size() > most_unclosed) ids.resize(most_unclosed);
  for (const std::uint64_t id : ids) {
    const UnfinishedRange& range = started_.find(id)->second;
    const trace::Field details[] = {trace::Field::count("id", id),
                                    trace::Field::string("reason", "process_exit")};
    trace::Event event = event_of(trace::EventKind::unclosed, thread);
    event.has_domain = true;
    event.domain = registry_.domain(range.domain).name;
    event.thread_name = registry_.thread_name(thread.tid);
    range.close(event);
    event.nesting = 0;
    event.fields = details;
    event.field_count = 2;
    write(event);
  }
}

void SinkCapture::show_lost(const ThreadState& thread, std::uint64_t lost) {
  if (lost == 0) return;
  const trace::Field count = trace::Field::count("count", lost);
  trace::Event event = event_of(trace::EventKind::lost, thread);
  event.fields = &count;
  event.field_count = 1;
  write(event);
}

}  // namespace nvspan::inject
