// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// NVTX in signal handlers: one that interrupts the program anywhere, and one that interrupts the
// C library's allocator with its lock held. NVTX itself is not made for a signal during its first
// call in a process, so that comes before.

#include <nvtx3/nvToolsExt.h>

#include <errno.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>

namespace {

std::atomic<int> handled{0};

void on_signal(int) {
  const int saved = errno;
  nvtxRangePushA("handler");
  nvtxRangePop();
  ++handled;
  errno = saved;
}

void start_timer() {
  struct sigaction action = {};
  action.sa_handler = on_signal;
  action.sa_flags = SA_RESTART;
  sigaction(SIGALRM, &action, nullptr);
  const itimerval every = {{0, 500}, {0, 500}};
  setitimer(ITIMER_REAL, &every, nullptr);
}

void stop_timer() {
  const itimerval never = {};
  setitimer(ITIMER_REAL, &never, nullptr);
}

// In the middle of callbacks.
void during_calls() {
  start_timer();
  for (int i = 0; handled < 100; ++i) {
    errno = 77;
    nvtxRangePushA("program");
    nvtxRangePop();
    if (errno != 77) std::_Exit(2);
  }
  stop_timer();
}

// In the middle of malloc and free, in a thread that has not called NVTX before.
void during_malloc() {
  sigset_t alarm;
  sigemptyset(&alarm);
  sigaddset(&alarm, SIGALRM);
  pthread_sigmask(SIG_BLOCK, &alarm, nullptr);
  std::thread([&] {
    pthread_sigmask(SIG_UNBLOCK, &alarm, nullptr);
    start_timer();
    while (handled < 100) {
      for (int i = 1; i < 100; ++i) std::free(std::malloc(static_cast<std::size_t>(i) * 1000));
    }
    stop_timer();
  }).join();
}

void killed() {
  nvtxRangePushA("open");
  raise(SIGKILL);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  nvtxInitialize(nullptr);
  if (how == "calls") during_calls();
  if (how == "malloc") during_malloc();
  if (how == "kill") killed();
  std::printf("%d\n", handled.load());
}
