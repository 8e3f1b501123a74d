// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The one tracing session of a process. NVTX's callbacks carry no context, so session() is where
// they find it; it is built on first use and never destroyed, because callbacks come until the very
// end of the process.
//
// A single lock orders everything: lines appear in the order of their timestamps, and closing a
// session waits for the callbacks in it. Callbacks take the lock with every asynchronous signal
// blocked, so a signal handler that calls NVTX never meets its own thread inside.

#pragma once

#include "core/immovable.hpp"
#include "core/memory/arena.hpp"
#include "core/memory/page_pool.hpp"
#include "inject/session/config.hpp"
#include "inject/session/record_capture.hpp"
#include "inject/session/registry.hpp"
#include "inject/session/sink_capture.hpp"
#include "inject/session/thread_state.hpp"
#include "trace/payload/payload_decoder.hpp"
#include "trace/payload/payload_schema.hpp"

#include <pthread.h>

#include <atomic>
#include <cstdint>
#include <string_view>

namespace nvspan::inject {

// Storage for what the event at hand points at; reused by the next one.
struct Scratch {
  explicit Scratch(core::PagePool& pool)
      : arena(pool), text(pool), malformed(pool), blobs(pool), fields(pool) {}

  core::Arena arena;
  core::PoolString text;
  core::PoolString malformed;
  core::PoolVector<trace::PayloadBlob> blobs;
  core::PoolVector<trace::Field> fields;
};

using ThreadNamer = std::size_t (*)(char* name, std::size_t room);

class Session : public core::Immovable {
 public:
  Session();
  ~Session() = delete;

  bool active() const noexcept { return active_.load(std::memory_order_acquire); }

  // Both report a failure on standard error, in one line. The first is for a program that was
  // started with NVSPAN_TRACE, and does nothing when tracing is on.
  bool open_from_environment() noexcept;
  bool open_in_process(const char* config) noexcept;
  void close_in_process() noexcept;

  // True when these callbacks were not connected before in this tracing. Holds no lock.
  bool remember_connection(const void* callbacks) noexcept;

  void take_thread_namer(ThreadNamer namer) noexcept;
  // Before a thread's first event: asks it for its name. Holds no lock; the namer may look at what
  // the program's language has.
  void meet_thread() noexcept {
    if (__builtin_expect(thread_slot().met != meeting_.load(std::memory_order_relaxed), 0)) {
      ask_thread();
    }
  }

  // What of GPUs is recorded where something is.
  CudaChoice cuda_choice() const noexcept { return record_.cuda_choice(); }

  void count_lost() noexcept { lost_.fetch_add(1, std::memory_order_relaxed); }
  void before_process_exit() noexcept;
  void at_process_exit() noexcept;

  // The rest is for a thread that holds the lock.
  void lock() noexcept { ::pthread_mutex_lock(&mutex_); }
  void unlock() noexcept { ::pthread_mutex_unlock(&mutex_); }
  ThreadState& current_thread();
  void retire_thread(ThreadState* state) noexcept;
  // What the events go to, while it is active.
  Capture& capture() noexcept { return *capture_; }
  void emit(const trace::Event& event) {
    if (capture_ != nullptr) capture_->other(event);
  }
  void close_if_failed() noexcept;  // once the lock's owner is done with a call
  void set_wait_mask(const sigset_t* mask) noexcept { sinks_.set_wait_mask(mask); }

  Registry& registry() noexcept { return registry_; }
  core::PagePool& pool() noexcept { return pool_; }
  Scratch& scratch() noexcept { return scratch_; }

  record::Recorder& recorder() noexcept { return record_.recorder(); }
  TimeDomains& time_domains() noexcept { return time_domains_; }
  trace::SchemaTable& schemas() noexcept { return schemas_; }
  void add_memory_schema();
  trace::PayloadDecoder& decoder() noexcept { return decoder_; }
  const trace::PayloadNames& names() const noexcept { return names_; }
  // Where samples go; null: nowhere.
  record::SampleLane* samples() { return capture_ == nullptr ? nullptr : capture_->samples(); }
  // Where the work of GPUs goes; null: nowhere.
  record::WorkLane* work() { return capture_ == nullptr ? nullptr : capture_->work(); }
  // Whether a recording can take an event at its own time now.
  bool records() { return capture_ != nullptr && capture_->takes_deferred(current_thread()); }

 private:
  bool open(std::string_view config, bool in_process);
  core::PoolString record_config(std::string_view file);
  void close() noexcept;
  void ask_thread() noexcept;
  std::uint64_t take_lost() noexcept { return lost_.exchange(0, std::memory_order_relaxed); }
  void install_hooks() noexcept;

  static void before_fork() noexcept;
  static void after_fork() noexcept;
  static void at_thread_exit(void* state) noexcept;

  pthread_mutex_t mutex_ = PTHREAD_MUTEX_INITIALIZER;
  std::atomic<bool> active_{false};
  std::atomic<std::uint64_t> lost_{0};
  std::atomic<ThreadNamer> namer_{nullptr};
  std::atomic<std::uint32_t> meeting_{0};  // every thread is asked again when it changes
  core::PagePool pool_;
  Scratch scratch_;
  Registry registry_;
  trace::SchemaTable schemas_;
  RegisteredNames names_;
  trace::PayloadDecoder decoder_;
  SinkCapture sinks_;
  RecordCapture record_;
  TimeDomains time_domains_;
  Capture* capture_ = nullptr;  // one of the two, while it is active
  std::uint64_t epoch_ = 0;
  bool in_process_ = false;
  bool failed_ = false;  // the environment's trace could not be opened, or had to stop
  bool hooked_ = false;
  bool forking_ = false;
  sigset_t signals_before_fork_ = {};
  pthread_key_t thread_key_ = 0;
  core::PoolSet<const void*> connected_;
};

Session& session() noexcept;

}  // namespace nvspan::inject
