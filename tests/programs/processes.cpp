// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Forks in the middle of everything, in the way that the first argument names.

#include <nvtx3/nvToolsExt.h>

#include <pthread.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

extern char** environ;

namespace {

void expect_success(pid_t child) {
  int status = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status != 0) {
    std::fprintf(stderr, "child: status %d\n", status);
    std::exit(1);
  }
}

// A child goes on inside the ranges that are open, and both close them.
void inside_a_range() {
  nvtxRangePushA("parent");
  const nvtxRangeId_t id = nvtxRangeStartA("started");
  const pid_t child = fork();
  if (child == 0) {
    nvtxRangePushA("child");
    nvtxRangePop();
    nvtxRangeEnd(id);
    nvtxRangePop();
    _exit(0);
  }
  expect_success(child);
  nvtxRangeEnd(id);
  nvtxRangePop();
}

// Forks again and again while other threads hold the tool's lock most of the time.
void while_threads_write(int forks) {
  // NVTX itself is not made for a fork during its first call: the child would wait for ever.
  nvtxMarkA("first");
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      while (!stop) nvtxMarkA("busy");
    });
  }
  for (int i = 0; i < forks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      nvtxRangePushA("in the child");
      nvtxRangePop();
      _exit(0);
    }
    expect_success(child);
  }
  stop = true;
  for (std::thread& thread : threads) thread.join();
}

// A child that leaves through exit() speaks of its own ranges only.
void child_calls_exit() {
  nvtxRangePushA("the parent's");
  const pid_t child = fork();
  if (child == 0) {
    nvtxRangePushA("the child's");
    nvtxRangeStartA("the child's too");
    std::exit(0);
  }
  expect_success(child);
  nvtxRangePop();
}

void spawn(const char* self) {
  nvtxMarkA("before");
  pid_t child = 0;
  const char* arguments[] = {self, "mark", nullptr};
  if (posix_spawn(&child, self, nullptr, nullptr, const_cast<char**>(arguments), environ) != 0) {
    std::exit(1);
  }
  expect_success(child);
  nvtxMarkA("after");
}

// Fork handlers that annotate run while the tool is between its own.
void with_handlers() {
  pthread_atfork([] { nvtxMarkA("before the fork"); }, [] { nvtxMarkA("in the parent"); },
                 [] { nvtxMarkA("in the child"); });
  nvtxMarkA("first");
  const pid_t child = fork();
  if (child == 0) {
    nvtxMarkA("child");
    std::exit(0);
  }
  expect_success(child);
  nvtxMarkA("parent");
}

// As daemons do: every descriptor is closed, and the numbers are used again.
void close_all(const char* file) {
  nvtxMarkA("before");
  for (int fd = 3; fd < 1024; ++fd) close(fd);
  FILE* own = nullptr;
  std::vector<FILE*> files;
  for (int i = 0; i < 260; ++i) files.push_back(own = std::fopen(file, "w"));
  nvtxMarkA("after");
  for (FILE* opened : files) {
    if (opened != nullptr) std::fclose(opened);
  }
  nvtxMarkA("at the end");
}

}  // namespace

int main(int argc, char** argv) {
  const std::string how = argc > 1 ? argv[1] : "";
  if (how == "inside") inside_a_range();
  if (how == "threads") while_threads_write(std::atoi(argv[2]));
  if (how == "exit") child_calls_exit();
  if (how == "handlers") with_handlers();
  if (how == "spawn") spawn(argv[0]);
  if (how == "mark") nvtxMarkA("spawned");
  if (how == "close") close_all(argv[2]);
}
