// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session.hpp"

#include "inject/quiet_section.hpp"

#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>

namespace nvspan {
namespace {

constexpr std::size_t most_unclosed = 1000;  // reported of one thread, and of the process

void say(const char* what, const char* detail, const char* why) noexcept {
  char line[512];
  const int length = std::snprintf(line, sizeof line, "nvspan: %s %s: %s\n", what, detail, why);
  if (length <= 0) return;
  const auto size = static_cast<std::size_t>(length) < sizeof line
                        ? static_cast<std::size_t>(length)
                        : sizeof line - 1;
  [[maybe_unused]] const ssize_t ignored = ::write(STDERR_FILENO, line, size);
}

std::string_view environment(const char* name) noexcept {
  const char* value = std::getenv(name);
  return value == nullptr ? std::string_view() : std::string_view(value);
}

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

std::uint64_t now() noexcept {
  timespec time = {};
  ::clock_gettime(CLOCK_MONOTONIC, &time);
  return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u +
         static_cast<std::uint64_t>(time.tv_nsec);
}

Session& session() noexcept {
  alignas(Session) static unsigned char storage[sizeof(Session)];
  static Session* const instance = new (storage) Session;
  return *instance;
}

Session::Session()
    : scratch_(pool_),
      registry_(pool_),
      schemas_(pool_),
      names_(registry_),
      decoder_(schemas_, pool_),
      output_(pool_),
      recorder_(pool_, schemas_, names_),
      time_domains_(pool_),
      started_(pool_),
      connected_(pool_) {}

TextStyle Session::text_style(std::uint64_t origin) const noexcept {
  TextStyle style;
  style.origin = origin;
  style.unicode = locale_takes_utf8();
  const bool plain = !environment("NO_COLOR").empty() || environment("TERM") == "dumb";
  if (!plain && output_.is_terminal()) {
    const std::string_view depth = environment("COLORTERM");
    const bool full = contains(depth, "truecolor") || contains(depth, "24bit");
    style.colors = full ? ColorDepth::full : ColorDepth::palette;
  }
  return style;
}

bool Session::open(std::string_view config_text, bool in_process) {
  Config config(pool_);
  if (const char* problem = parse_config(config_text, config)) {
    say("cannot trace,", "bad configuration", problem);
    return false;
  }
  if (config.format == Format::record) {
    if (!open_recorder(config)) return false;
  } else if (config.file.empty()) {
    if (!output_.use_standard_error()) return false;
  } else if (!output_.open(config.file)) {
    say("cannot trace into", config.file.c_str(), output_.problem());
    return false;
  }
  if (config.all_domains) {
    registry_.show_all_domains();
  } else {
    registry_.show_only(config.domains);
  }
  if (config.format == Format::record) {
    sink_ = &recorder_;
  } else if (config.format == Format::jsonl) {
    jsonl_.emplace(output_, pool_).show_payloads(decoder_, names_);
    sink_ = &*jsonl_;
  } else {
    const std::uint64_t origin = config.origin != 0 ? config.origin : now();
    text_sink_.emplace(output_, pool_, text_style(origin)).show_payloads(decoder_, names_);
    sink_ = &*text_sink_;
  }
  if (!hooked_) install_hooks();
  ++epoch_;
  in_process_ = in_process;
  lost_.store(0, std::memory_order_relaxed);
  connected_.clear();
  active_.store(true, std::memory_order_release);
  return true;
}

bool Session::open_recorder(const Config& config) {
  RecordOptions options;
  options.path = config.file;
  options.mode = config.mode;
  options.ring_bytes = config.ring_bytes;
  options.min_duration = config.min_duration;
  options.name_bytes = config.name_bytes;
  const char* const names = std::getenv("NVSPAN_RECORD_NAMES");
  if (options.name_bytes == 0 && names != nullptr && *names != '\0' &&
      !parse_megabytes(names, options.name_bytes)) {
    options.name_bytes = 0;
    say("NVSPAN_RECORD_NAMES is no number of megabytes,", names, "it has no effect");
  }
  options.run = config.run;
  return recorder_.open(options);
}

// What NVSPAN_RECORD=file stands for.
PoolString Session::record_config(std::string_view file) {
  PoolString config("format=record;file=", pool_);
  for (const char byte : file) {
    if (byte == '%' || byte == ';') {
      config.append(byte == '%' ? "%25" : "%3B");
    } else {
      config.push_back(byte);
    }
  }
  return config;
}

ThreadWriter* Session::record_writer() {
  if (sink_ != &recorder_) return nullptr;
  ThreadSlot& slot = thread_slot();
  if (recorder_.is_orphan() && !recorder_.open_in_child()) {
    slot.writer = nullptr;
    failed_ = !in_process_;
    const bool in_process = in_process_;
    close();
    in_process_ = in_process;
    return nullptr;
  }
  if (slot.writer == nullptr || !slot.writer->is_live()) {
    slot.writer = recorder_.ready(slot.writer, current_thread().tid);
  }
  recorder_.set_current(slot.writer);
  return slot.writer;
}

bool Session::open_from_environment() noexcept {
  if (active()) return true;
  if (thread_slot().busy) return false;
  const QuietSection quiet;
  lock();
  bool opened = active();
  if (!opened && !failed_) {
    try {
      const std::string_view config = environment("NVSPAN_TRACE");
      const std::string_view file = environment("NVSPAN_RECORD");
      if (config.empty() && !file.empty()) {
        opened = open(record_config(file), false);
      } else {
        opened = open(config, false);
      }
    } catch (...) {
      say("cannot trace,", "out of memory", "no trace is written");
    }
    failed_ = !opened;
  }
  unlock();
  return opened;
}

bool Session::open_in_process(const char* config) noexcept {
  if (thread_slot().busy) return false;
  const QuietSection quiet;
  lock();
  bool opened = false;
  if (!active()) {
    try {
      opened = open(config == nullptr ? std::string_view() : std::string_view(config), true);
    } catch (...) {
      say("cannot trace,", "out of memory", "no trace is written");
    }
  }
  unlock();
  return opened;
}

void Session::close_in_process() noexcept {
  if (thread_slot().busy) return;
  const QuietSection quiet;
  lock();
  if (in_process_) {
    try {
      if (sink_ != &recorder_) report_lost();
    } catch (...) {
      count_lost();
    }
    close();
  }
  unlock();
}

void Session::close() noexcept {
  active_.store(false, std::memory_order_release);
  in_process_ = false;
  sink_ = nullptr;
  recorder_.close(thread_slot().writer);
  jsonl_.reset();
  text_sink_.reset();
  output_.close();
  for (auto& entry : started_) entry.second.release(pool_);
  started_.clear();
}

void Session::stop(int error) noexcept {
  char name[256];
  std::snprintf(name, sizeof name, "%s", output_.name());
  const bool to_file = std::strcmp(name, "standard error") != 0;
  failed_ = !in_process_;
  const bool in_process = in_process_;
  close();
  in_process_ = in_process;
  if (to_file) say("stopped tracing into", name, ::strerror(error));
}

void Session::emit(const Event& event) {
  if (sink_ == &recorder_) {
    ThreadWriter* writer = record_writer();
    if (writer != nullptr && writer->busy.load(std::memory_order_relaxed) != 0) {
      recorder_.set_current(nullptr);
    }
  }
  if (sink_ != nullptr && !sink_->write(event)) stop(output_.error());
}

bool Session::remember_connection(const void* callbacks) noexcept {
  if (thread_slot().busy) return false;
  const QuietSection quiet;
  lock();
  bool fresh = false;
  try {
    fresh = connected_.insert(callbacks).second;
  } catch (...) {
    count_lost();
  }
  unlock();
  return fresh;
}

ThreadState& Session::current_thread() {
  ThreadSlot& slot = thread_slot();
  if (slot.state == nullptr) {
    slot.state = new (pool_.allocate(sizeof(ThreadState))) ThreadState(pool_);
    ::pthread_setspecific(thread_key_, slot.state);
  }
  ThreadState& thread = *slot.state;
  // Asked for each time: the calls that make a process need not run fork handlers.
  const auto pid = static_cast<std::uint32_t>(::getpid());
  if (thread.pid != pid) {
    thread.pid = pid;
    thread.tid = static_cast<std::uint32_t>(::syscall(SYS_gettid));
  }
  if (thread.epoch != epoch_) {
    thread.forget_ranges();
    thread.epoch = epoch_;
  }
  return thread;
}

void Session::retire_thread(ThreadState* state) noexcept {
  recorder_.retire(thread_slot().writer);
  thread_slot().writer = nullptr;
  registry_.forget_thread(state->tid);
  state->~ThreadState();
  pool_.deallocate(state, sizeof(ThreadState));
}

void Session::keep_started(const Event& event, std::uint64_t domain) {
  started_[event.range_id] = OpenRange::keep(event, domain, pool_);
}

bool Session::take_started(std::uint64_t id, OpenRange& range) noexcept {
  const auto found = started_.find(id);
  if (found == started_.end()) return false;
  range = found->second;
  started_.erase(found);
  return true;
}

void Session::report_unclosed(ThreadState& thread, const char* reason) {
  std::size_t left = most_unclosed;
  for (DomainStack& stack : thread.stacks) {
    const DomainView domain = registry_.domain(stack.domain);
    for (std::size_t i = stack.ranges.size(); i-- > 0;) {
      const OpenRange& range = stack.ranges[i];
      if (range.pid != thread.pid) continue;
      if (left-- == 0) return;
      const Field why = Field::string("reason", reason);
      Event event;
      event.kind = EventKind::unclosed;
      event.pid = thread.pid;
      event.tid = thread.tid;
      event.ts = now();
      event.has_domain = true;
      event.domain = domain.name;
      event.thread_name = registry_.thread_name(thread.tid);
      range.close(event);
      event.fields = &why;
      event.field_count = 1;
      emit(event);
    }
  }
}

void Session::report_started() {
  ThreadState& thread = current_thread();
  PoolVector<std::uint64_t> ids(pool_);
  for (const auto& entry : started_) {
    if (entry.second.pid == thread.pid) ids.push_back(entry.first);
  }
  std::sort(ids.begin(), ids.end());
  if (ids.size() > most_unclosed) ids.resize(most_unclosed);
  for (const std::uint64_t id : ids) {
    const auto found = started_.find(id);
    if (found == started_.end()) return;  // the sink failed, and the session was closed
    const Field details[] = {Field::count("id", id), Field::string("reason", "process_exit")};
    Event event;
    event.kind = EventKind::unclosed;
    event.pid = thread.pid;
    event.tid = thread.tid;
    event.ts = now();
    event.has_domain = true;
    event.domain = registry_.domain(found->second.domain).name;
    event.thread_name = registry_.thread_name(thread.tid);
    found->second.close(event);
    event.nesting = 0;
    event.fields = details;
    event.field_count = 2;
    emit(event);
  }
}

void Session::report_lost() {
  const std::uint64_t lost = lost_.exchange(0, std::memory_order_relaxed);
  if (lost == 0) return;
  const ThreadState& thread = current_thread();
  const Field count = Field::count("count", lost);
  Event event;
  event.kind = EventKind::lost;
  event.pid = thread.pid;
  event.tid = thread.tid;
  event.ts = now();
  event.fields = &count;
  event.field_count = 1;
  emit(event);
}

void Session::at_process_exit() noexcept {
  if (!active() || thread_slot().busy) return;
  const QuietSection quiet;
  lock();
  try {
    if (active() && sink_ == &recorder_) {
      recorder_.at_process_exit(thread_slot().writer);
    } else if (active()) {
      report_unclosed(current_thread(), "process_exit");
      report_started();
      report_lost();
    }
  } catch (...) {
    count_lost();
  }
  unlock();
}

void Session::install_hooks() noexcept {
  hooked_ = true;
  ::pthread_atfork(before_fork, after_fork, after_fork);
  ::pthread_key_create(&thread_key_, at_thread_exit);
}

// The forking thread holds the lock, so that the child finds everything in order. It is marked busy
// meanwhile: other fork handlers may annotate, and would wait for this very thread. A signal
// handler that forks while its thread waits, in a callback, for a full pipe holds the lock already.
void Session::before_fork() noexcept {
  if (thread_slot().busy) return;
  Session& self = session();
  sigset_t signals;
  QuietSection::block_signals(&signals);
  thread_slot().busy = true;
  self.lock();
  self.forking_ = true;
  self.signals_before_fork_ = signals;
}

void Session::after_fork() noexcept {
  Session& self = session();
  if (!thread_slot().busy || !self.forking_) return;
  self.forking_ = false;
  if (self.recorder_.is_open() && static_cast<std::uint32_t>(::getpid()) != self.recorder_.pid()) {
    self.recorder_.mark_forked();
  }
  const sigset_t signals = self.signals_before_fork_;
  self.unlock();
  thread_slot().busy = false;
  ::pthread_sigmask(SIG_SETMASK, &signals, nullptr);
}

void Session::at_thread_exit(void* state) noexcept {
  const QuietSection quiet;
  Session& self = session();
  self.lock();
  auto* thread = static_cast<ThreadState*>(state);
  try {
    if (self.active() && self.sink_ != &self.recorder_ && thread->epoch == self.epoch_) {
      self.report_unclosed(*thread, "thread_exit");
    }
  } catch (...) {
    self.count_lost();
  }
  thread_slot().state = nullptr;
  self.retire_thread(thread);
  self.unlock();
}

}  // namespace nvspan
