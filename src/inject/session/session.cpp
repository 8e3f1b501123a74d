// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/session/session.hpp"

#include "core/os/error_line.hpp"
#include "core/os/fork_lock.hpp"
#include "inject/session/gpu_activity.hpp"
#include "inject/session/line_samples.hpp"
#include "inject/session/thread_state.hpp"

#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <new>

namespace nvspan::inject {
namespace {

// exit() destroys thread_local objects before it calls any handler, so also before the CUDA driver
// ends its contexts; destructors of libraries run after that.
struct MainThreadEnd {
  ~MainThreadEnd() { session().before_process_exit(); }
};

void follow_main_thread() noexcept {
  if (::syscall(SYS_gettid) != ::getpid()) return;
  static thread_local MainThreadEnd end;
  static_cast<void>(end);
}

}  // namespace

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
      sinks_(pool_, registry_, decoder_, names_, scratch_.fields),
      record_(pool_, registry_, schemas_, names_),
      time_domains_(pool_),
      connected_(pool_) {}

bool Session::open(std::string_view config_text, bool in_process) {
  Config config(pool_);
  if (const char* problem = parse_config(config_text, config)) {
    core::write_error_line("cannot trace: bad configuration: %s", problem);
    return false;
  }
  const bool records = config.format == Format::record;
  if (!(records ? record_.open(config) : sinks_.open(config))) return false;
  if (config.all_domains) {
    registry_.show_all_domains();
  } else {
    registry_.show_only(config.domains);
  }
  capture_ = records ? static_cast<Capture*>(&record_) : &sinks_;
  if (!hooked_) install_hooks();
  ++epoch_;
  if (records) meeting_.fetch_add(1, std::memory_order_relaxed);
  in_process_ = in_process;
  lost_.store(0, std::memory_order_relaxed);
  connected_.clear();
  active_.store(true, std::memory_order_release);
  return true;
}

// What NVSPAN_RECORD=file stands for, and armed, ring or ring=MB, with :file behind them.
core::PoolString Session::record_config(std::string_view file) {
  core::PoolString config("format=record;", pool_);
  const std::string_view mode = file.substr(0, file.find(':'));
  constexpr std::string_view ring = "ring";
  std::uint64_t bytes = 64'000'000;
  const bool sized = mode.substr(0, ring.size() + 1) == "ring=" &&
                     parse_megabytes(mode.substr(ring.size() + 1), bytes);
  const bool named = mode == "armed" || mode == ring || sized;
  if (mode == "armed") config.append("mode=armed;");
  if (named && mode != "armed") {
    config.append("mode=ring:");
    char digits[20];
    char* at = digits + sizeof digits;
    for (; bytes != 0; bytes /= 10) *--at = static_cast<char>('0' + bytes % 10);
    config.append(at, digits + sizeof digits);
    config.push_back(';');
  }
  if (named) file.remove_prefix(std::min(file.size(), mode.size() + 1));
  config.append("file=");
  for (const char byte : file) {
    if (byte == '%' || byte == ';') {
      config.append(byte == '%' ? "%25" : "%3B");
    } else {
      config.push_back(byte);
    }
  }
  return config;
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
      core::write_error_line("cannot trace: out of memory");
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
      core::write_error_line("cannot trace: out of memory");
    }
  }
  unlock();
  return opened;
}

void Session::close_in_process() noexcept {
  if (thread_slot().busy) return;
  stop_gpu_activity();
  const QuietSection quiet;
  lock();
  if (in_process_) {
    try {
      if (active()) capture_->stop(current_thread(), take_lost());
    } catch (...) {
      count_lost();
    }
    close();
  }
  unlock();
}

void Session::add_memory_schema() {
  lock();
  try {
    record::add_memory_schema(schemas_);
  } catch (...) {
    count_lost();
  }
  unlock();
}

void Session::close() noexcept {
  active_.store(false, std::memory_order_release);
  in_process_ = false;
  if (capture_ != nullptr) capture_->close();
  capture_ = nullptr;
}

void Session::close_if_failed() noexcept {
  if (capture_ == nullptr || !capture_->has_failed()) return;
  failed_ = !in_process_;
  const bool in_process = in_process_;
  close();
  in_process_ = in_process;
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

void Session::take_thread_namer(ThreadNamer namer) noexcept {
  if (namer_.exchange(namer) == namer) return;
  meeting_.fetch_add(1, std::memory_order_relaxed);
  if (active() && !thread_slot().busy) meet_thread();  // it may have sent its only event
}

void Session::ask_thread() noexcept {
  ThreadSlot& slot = thread_slot();
  slot.met = meeting_.load(std::memory_order_relaxed);
  follow_main_thread();
  char name[sizeof ThreadState::own_name];
  const ThreadNamer namer = namer_.load(std::memory_order_acquire);
  std::size_t size = namer == nullptr ? 0 : namer(name, sizeof name);
  const QuietSection quiet;
  if (size == 0) size = system_thread_name(name, sizeof name);
  lock();
  try {
    ThreadState& thread = current_thread();
    std::memcpy(thread.own_name, name, size);
    thread.own_name_size = size;
    if (namer != nullptr) recorder().note_annotations();  // only they bring a namer
    if (capture_ == &record_) record_.name(thread);
  } catch (...) {
    count_lost();
  }
  unlock();
}

void Session::retire_thread(ThreadState* state) noexcept {
  record_.retire(thread_slot().writer);
  thread_slot().writer = nullptr;
  registry_.forget_thread(state->tid);
  state->~ThreadState();
  pool_.deallocate(state, sizeof(ThreadState));
}

void Session::before_process_exit() noexcept {
  abandon_sampler();
  flush_gpu_activity();
  if (!active() || thread_slot().busy) return;
  const QuietSection quiet;
  lock();
  if (active()) capture_->before_exit();
  unlock();
}

void Session::at_process_exit() noexcept {
  if (!active() || thread_slot().busy) return;
  const QuietSection quiet;
  lock();
  try {
    if (active()) capture_->process_exit(current_thread(), take_lost());
  } catch (...) {
    count_lost();
  }
  close_if_failed();
  unlock();
}

void Session::install_hooks() noexcept {
  hooked_ = true;
  core::follow_forks<before_fork, after_fork, after_fork>();
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
  if (self.capture_ != nullptr) self.capture_->forked();
  if (static_cast<std::uint32_t>(::getpid()) != self.record_.recorder().pid()) {
    self.meeting_.fetch_add(1, std::memory_order_relaxed);  // the child's thread has another name
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
    if (self.active() && thread->epoch == self.epoch_) self.capture_->thread_exit(*thread);
  } catch (...) {
    self.count_lost();
  }
  self.close_if_failed();
  thread_slot().state = nullptr;
  self.retire_thread(thread);
  self.unlock();
}

}  // namespace nvspan::inject
