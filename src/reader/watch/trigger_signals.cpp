// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/watch/trigger_signals.hpp"

#include <signal.h>

#include <atomic>

namespace nvspan::reader {
namespace {

constexpr int most_signals = 65;

std::atomic<bool> signalled[most_signals];
struct sigaction earlier[most_signals];
std::atomic<bool> caught[most_signals];
std::atomic<bool> replaced[most_signals];

void remember(int number, siginfo_t* info, void* context) {
  signalled[number].store(true, std::memory_order_relaxed);
  const struct sigaction& old = earlier[number];
  if ((old.sa_flags & SA_SIGINFO) != 0) {
    if (old.sa_sigaction != nullptr) old.sa_sigaction(number, info, context);
  } else if (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN) {
    old.sa_handler(number);
  }
}

}  // namespace

void take_signal(int number) noexcept {
  if (number <= 0 || number >= most_signals || caught[number].exchange(true)) return;
  ::sigaction(number, nullptr, &earlier[number]);
  struct sigaction action = {};
  action.sa_sigaction = remember;
  // Calls that the program's own handler interrupts are interrupted as before: Python runs its part
  // of a handler when they return.
  const struct sigaction& old = earlier[number];
  const bool is_handled =
      (old.sa_flags & SA_SIGINFO) != 0 || (old.sa_handler != SIG_DFL && old.sa_handler != SIG_IGN);
  action.sa_flags = SA_SIGINFO | (is_handled ? old.sa_flags & (SA_RESTART | SA_ONSTACK | SA_NODEFER)
                                             : SA_RESTART);
  if (is_handled) {
    action.sa_mask = old.sa_mask;
  } else {
    ::sigfillset(&action.sa_mask);
  }
  ::sigaction(number, &action, nullptr);
}

bool was_signalled(int number) noexcept {
  return number > 0 && number < most_signals && signalled[number].exchange(false);
}

bool was_replaced(int number) noexcept {
  if (number <= 0 || number >= most_signals || replaced[number].load()) return false;
  struct sigaction now = {};
  if (::sigaction(number, nullptr, &now) != 0) return false;
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == remember) return false;
  return !replaced[number].exchange(true);
}

}  // namespace nvspan::reader
