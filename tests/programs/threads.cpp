// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Threads: a race for the first call, ranges of many threads, and what comes when threads end.

#include <nvtx3/nvToolsExt.h>

#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

namespace {

constexpr int thread_count = 64;
constexpr int rounds = 20;

void race() {
  std::atomic<int> waiting{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      ++waiting;
      while (waiting < thread_count) std::this_thread::yield();
      const std::string name = std::to_string(i);
      for (int round = 0; round < rounds; ++round) {
        if (nvtxRangePushA(name.c_str()) != 0) std::_Exit(2);
        if (nvtxRangePushA("inner") != 1) std::_Exit(3);
        const nvtxRangeId_t id = nvtxRangeStartA(name.c_str());
        if (nvtxRangePop() != 1) std::_Exit(4);
        nvtxRangeEnd(id);
        if (nvtxRangePop() != 0) std::_Exit(5);
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

struct LateCaller {
  ~LateCaller() { nvtxMarkA("in a thread-local destructor"); }
};

void late_key(void*) {
  static thread_local int count = 0;
  if (++count == 1) nvtxRangePushA("in a key's destructor");
}

void thread_end() {
  pthread_key_t key = 0;
  pthread_key_create(&key, late_key);
  std::thread([&] {
    static thread_local LateCaller caller;
    (void)&caller;
    pthread_setspecific(key, &key);
    nvtxRangePushA("never popped");
    nvtxRangePushA("nor this");
  }).join();
  nvtxRangeId_t id = 0;
  std::thread([&] { id = nvtxRangeStartA("started in a thread that is gone"); }).join();
  nvtxRangeEnd(id);
}

void short_lived() {
  for (int i = 0; i < 2000; ++i) std::thread([] { nvtxMarkA("short"); }).join();
}

void* until_cancelled(void*) {
  for (;;) {
    nvtxMarkA("until cancelled");
    pthread_testcancel();
  }
}

// write() is a cancellation point: a thread must not be unwound out of the tool.
void cancel() {
  for (int i = 0; i < 10; ++i) {
    pthread_t thread;
    pthread_create(&thread, nullptr, until_cancelled, nullptr);
    usleep(1000);
    pthread_cancel(thread);
    void* result = nullptr;
    pthread_join(thread, &result);
    if (result != PTHREAD_CANCELED) std::exit(1);
  }
  nvtxMarkA("all cancelled");
}

void deep() {
  for (int i = 0; i < 10000; ++i) {
    if (nvtxRangePushA("level") != i) std::exit(2);
  }
  for (int i = 10000; i-- > 0;) {
    if (nvtxRangePop() != i) std::exit(3);
  }
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "race") race();
  if (how == "end") thread_end();
  if (how == "short") short_lived();
  if (how == "cancel") cancel();
  if (how == "deep") deep();
  std::puts("done");
}
