// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#pragma once

#include "inject/session/thread_state.hpp"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

namespace nvspan::inject {

// The program notices nothing of what happens inside: errno is put back, the thread cannot be
// cancelled, and asynchronous signals wait. Marks the thread as busy.
class QuietSection {
 public:
  QuietSection() noexcept : errno_(errno) {
    ::pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state_);
    block_signals(&signals_);
    thread_slot().busy = true;
  }
  QuietSection(const QuietSection&) = delete;
  QuietSection& operator=(const QuietSection&) = delete;
  QuietSection(QuietSection&&) = delete;
  QuietSection& operator=(QuietSection&&) = delete;
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
