// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A thread that only wakes up: what no sampler can do without.

#include <pthread.h>
#include <time.h>

#include <atomic>

namespace {

pthread_t thread;
std::atomic<bool> ends{false};
long long period = 0;

void* wake_up(void*) {
  while (!ends.load()) {
    const timespec time = {period / 1000000000, period % 1000000000};
    ::nanosleep(&time, nullptr);
  }
  return nullptr;
}

}  // namespace

extern "C" void begin(long long ns) {
  period = ns;
  ends.store(false);
  ::pthread_create(&thread, nullptr, wake_up, nullptr);
}

extern "C" void end() {
  ends.store(true);
  ::pthread_join(thread, nullptr);
}
