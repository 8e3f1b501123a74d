// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "core/immovable.hpp"
#include "core/memory/page_pool.hpp"
#include "record/thread/thread_writer.hpp"
#include "trace/event/event.hpp"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace nvspan::inject {

// A range that waits for its end. Its message is interned, or a copy that release() gives back.
struct UnfinishedRange {
  std::uint64_t ts = 0;
  std::uint64_t domain = 0;
  std::string_view message;
  std::uint32_t pid = 0;  // of the process that opened it: a forked child inherits the range
  std::uint32_t color = 0;
  std::int32_t nesting = 0;
  trace::MessageType message_type = trace::MessageType::none;
  bool has_color = false;
  bool owns_message = false;

  static UnfinishedRange keep(const trace::Event& event, std::uint64_t domain,
                              core::PagePool& pool);
  void release(core::PagePool& pool) noexcept;
  void close(trace::Event& event) const noexcept;  // fills in what the closing event repeats
};

// A domain's open push ranges in one thread.
struct DomainStack {
  std::uint64_t domain;
  core::PoolVector<UnfinishedRange> ranges;
};

// One thread's part of the session. It is touched only by its thread, with the session's lock held.
struct ThreadState : public core::Immovable {
  explicit ThreadState(core::PagePool& memory) : pool(memory), stacks(memory) {}
  ~ThreadState() { forget_ranges(); }

  DomainStack& stack(std::uint64_t domain);
  void forget_ranges() noexcept;

  core::PagePool& pool;
  std::uint64_t epoch = 0;  // of the tracing that `stacks` belong to
  std::uint32_t pid = 0;
  std::uint32_t tid = 0;
  std::int32_t nesting = 0;
  core::PoolVector<DomainStack> stacks;
  char own_name[64] = {};  // what its language or the system calls it, for recordings
  std::size_t own_name_size = 0;
};

// What each thread has in thread-local storage: zero-initialised, no constructor, no destructor.
struct ThreadSlot {
  ThreadState* state;
  record::ThreadWriter* writer;  // of the recorder
  bool busy;                     // this thread is inside a callback
  std::uint32_t met;             // the Session's meeting in which it was asked for its name
};

// A library that dlopen loads reaches its thread-local storage through calls that may use malloc,
// unless the storage is of the initial-exec kind; glibc keeps room for such small ones. `__thread`,
// because thread_local would reach it through a function that initialises.
extern __thread ThreadSlot this_thread_slot __attribute__((tls_model("initial-exec")));

inline ThreadSlot& thread_slot() noexcept { return this_thread_slot; }

// The name that the calling thread has in the system, if it is one of its own: the main thread is
// called as the program is, and threads inherit the name of the thread that makes them. Returns the
// size, at most `room`; 0: none.
std::size_t system_thread_name(char* name, std::size_t room) noexcept;

// The program notices nothing of what happens inside: errno is put back, the thread cannot be
// cancelled, and asynchronous signals wait. Marks the thread as busy.
class QuietSection : public core::Immovable {
 public:
  QuietSection() noexcept : errno_(errno) {
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    block_signals(&signals_);
    thread_slot().busy = true;
  }
  ~QuietSection() {
    thread_slot().busy = false;
    ::pthread_sigmask(SIG_SETMASK, &signals_, nullptr);
    ::pthread_setcancelstate(cancel_state_, nullptr);
    errno = errno_;
  }

  const sigset_t* signals() const noexcept { return &signals_; }

  // All but those that the thread raises itself by a fault.
  static void block_signals(sigset_t* before) noexcept {
    sigset_t blocked;
    sigfillset(&blocked);
    for (const int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT, SIGTRAP, SIGSYS}) {
      sigdelset(&blocked, fault);
    }
    ::pthread_sigmask(SIG_BLOCK, &blocked, before);
  }

 private:
  int errno_;
  int cancel_state_ = PTHREAD_CANCEL_ENABLE;
  sigset_t signals_;
};

}  // namespace nvspan::inject
