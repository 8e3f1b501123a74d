// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "reader/watch/trigger_signals.hpp"

#include "core/os/clock.hpp"

#include <signal.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>

namespace nvspan::reader {
namespace {

constexpr int most_signals = 65;
constexpr std::uint64_t longest_wait = 2'000'000'000;  // ns

std::atomic<bool> signalled[most_signals];
std::atomic<std::uint32_t> served[most_signals];
struct sigaction earlier[most_signals];
std::atomic<bool> caught[most_signals];
std::atomic<bool> replaced[most_signals];
std::atomic<Bell*> server{nullptr};
std::atomic<pid_t> served_process{0};

bool has_handler(const struct sigaction& action) {
  return (action.sa_flags & SA_SIGINFO) != 0 ||
         (action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN);
}

bool does_nothing(int number, const struct sigaction& old) {
  if (has_handler(old)) return false;
  return old.sa_handler == SIG_IGN || number == SIGCHLD || number == SIGCONT || number == SIGURG ||
         number == SIGWINCH || number == SIGUSR1 || number == SIGUSR2 || number >= SIGRTMIN;
}

void wait_for_bundle(int number, std::uint32_t before) {
  const std::uint64_t until = core::monotonic_ns() + longest_wait;
  while (served[number].load() == before && core::monotonic_ns() < until) {
    const timespec pause = {0, 1'000'000};
    ::nanosleep(&pause, nullptr);
  }
}

void remember(int number, siginfo_t* info, void* context);

void take(int number, const struct sigaction& old) {
  struct sigaction action = {};
  action.sa_sigaction = remember;
  // Calls that the program's own handler interrupts are interrupted as before: Python runs its part
  // of a handler when they return.
  action.sa_flags =
      SA_SIGINFO |
      (has_handler(old) ? old.sa_flags & (SA_RESTART | SA_ONSTACK | SA_NODEFER) : SA_RESTART);
  if (has_handler(old)) {
    action.sa_mask = old.sa_mask;
  } else {
    ::sigfillset(&action.sa_mask);
  }
  ::sigaction(number, &action, nullptr);
}

// Of a signal that stops the process, this returns when it goes on.
void act_by_default(int number) {
  struct sigaction action = {};
  action.sa_handler = SIG_DFL;
  ::sigaction(number, &action, nullptr);
  ::raise(number);
  sigset_t mask;
  sigset_t before;
  ::sigemptyset(&mask);
  ::sigaddset(&mask, number);
  ::pthread_sigmask(SIG_UNBLOCK, &mask, &before);
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  take(number, earlier[number]);
}

void remember(int number, siginfo_t* info, void* context) {
  const int error = errno;
  const struct sigaction& old = earlier[number];
  const bool goes_on = !does_nothing(number, old);
  const std::uint32_t before = served[number].load();
  signalled[number].store(true);
  Bell* const bell = served_process.load() == ::getpid() ? server.load() : nullptr;
  if (bell != nullptr) {
    bell->ring();
    if (goes_on) wait_for_bundle(number, before);
  }
  errno = error;
  if (!goes_on) return;
  if ((old.sa_flags & SA_SIGINFO) != 0) {
    if (old.sa_sigaction != nullptr) old.sa_sigaction(number, info, context);
  } else if (old.sa_handler != SIG_DFL) {
    old.sa_handler(number);
  } else {
    act_by_default(number);
  }
}

}  // namespace

void take_signal(int number) noexcept {
  if (number <= 0 || number >= most_signals || caught[number].exchange(true)) return;
  ::sigaction(number, nullptr, &earlier[number]);
  take(number, earlier[number]);
}

void serve_signals(Bell* bell) noexcept {
  server.store(bell);
  served_process.store(bell == nullptr ? 0 : ::getpid());
}

bool was_signalled(int number) noexcept {
  return number > 0 && number < most_signals && signalled[number].exchange(false);
}

void signal_served(int number) noexcept {
  if (number > 0 && number < most_signals) served[number].fetch_add(1);
}

bool was_replaced(int number) noexcept {
  if (number <= 0 || number >= most_signals || replaced[number].load()) return false;
  struct sigaction now = {};
  if (::sigaction(number, nullptr, &now) != 0) return false;
  if ((now.sa_flags & SA_SIGINFO) != 0 && now.sa_sigaction == remember) return false;
  return !replaced[number].exchange(true);
}

}  // namespace nvspan::reader
