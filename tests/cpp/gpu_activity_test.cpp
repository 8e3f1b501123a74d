// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A GPU's work under many threads: launches, delivery by CUPTI's threads, losses, a profiler that
// takes CUPTI away and gives it back, recordings that end and begin, forks and the process's end,
// all at once. Made for ThreadSanitizer and AddressSanitizer. The argument is tests/kernels's fake
// CUPTI.

#include "reader/file/recording.hpp"

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.hpp"
#include "folder.hpp"
#include "threads.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>

extern "C" {
int InitializeInjection();
int nvspan_inject_open(const char*);
void nvspan_inject_close();
int nvspan_inject_begin_graph_sample();
void nvspan_inject_end_graph_sample();
void nvspan_inject_release_gpu();
int nvspan_inject_take_gpu(int);
}

namespace {

using nvspan_test::in_threads;

constexpr int launchers = 4, deliverers = 2;
constexpr int sessions = 20, releases = 10, forks = 5;
constexpr std::uint32_t launch_kernel = 211, driver_launch = 307, allocate = 20;

struct FakeCupti {
  void* library = nullptr;
  std::uint32_t (*call)(std::uint32_t, std::uint32_t, const char*, int);
  void (*kernel)(const char*, std::uint64_t, std::uint64_t, std::uint32_t, std::uint32_t,
                 std::uint32_t, std::uint32_t);
  void (*node)(std::uint64_t, std::uint64_t);
  void (*destroy_node)(std::uint64_t);
  void (*of_node)(std::uint64_t);
  void (*capture)(int);
  void (*memory)(int, std::uint32_t, std::uint64_t, std::uint64_t, std::uint64_t, std::uint32_t);
  void (*deliver)(int);
  void (*drop)(std::size_t);
  std::size_t (*request)(std::size_t);
  void (*scribble)();
  void (*hand_back)();
  std::uint64_t (*now)();
  const char* (*log)();

  template <typename Function>
  void find(Function& function, const char* name) {
    function = reinterpret_cast<Function>(dlsym(library, name));
    EXPECT(function != nullptr);
  }
  explicit FakeCupti(const char* path) : library(dlopen(path, RTLD_NOW)) {
    EXPECT(library != nullptr);
    find(call, "fake_call");
    find(kernel, "fake_kernel");
    find(node, "fake_node");
    find(destroy_node, "fake_destroy_node");
    find(of_node, "fake_of_node");
    find(capture, "fake_capture");
    find(memory, "fake_memory");
    find(deliver, "fake_deliver");
    find(drop, "fake_drop");
    find(request, "fake_request");
    find(scribble, "fake_scribble");
    find(hand_back, "fake_hand_back");
    find(now, "fake_now");
    find(log, "fake_log");
  }
};

void launch(const FakeCupti& fake, const std::string& name) {
  const std::uint32_t number = fake.call(launch_kernel, driver_launch, name.c_str(), 0);
  const std::uint64_t start = fake.now();
  fake.kernel(name.c_str(), start, start + 100, number, 0, 1, 7);
  fake.memory(1, 3, number, 4096, start, fake.call(allocate, 0, nullptr, 0));
}

// A graph of one kernel is captured, made executable, replayed as a sample, and destroyed.
void replay(const FakeCupti& fake, std::uint64_t number) {
  const std::uint64_t captured = 2 * number + 1, executable = captured + 1;
  fake.capture(1);
  fake.node(captured, 0);
  fake.capture(0);
  fake.node(executable, captured);
  const bool is_sampled = nvspan_inject_begin_graph_sample() != 0;
  fake.of_node(executable);
  launch(fake, "node");
  fake.of_node(0);
  if (is_sampled) nvspan_inject_end_graph_sample();
  fake.destroy_node(executable);
  fake.destroy_node(captured);
}

void deliver(const FakeCupti& fake) {
  fake.deliver(0);
  if (fake.request(3) != 0) fake.scribble();
  fake.hand_back();
  fake.drop(1);
}

std::string file_of(const nvspan_test::Folder& folder, int session) {
  return folder.path((std::to_string(session) + ".nvspan").c_str());
}

std::string config_of(const nvspan_test::Folder& folder, int session) {
  return "file=" + file_of(folder, session) +
         ";format=record;cuda=all;mode=" + (session % 2 == 0 ? "full" : "ring:1000000");
}

void fork_once() {
  const pid_t child = ::fork();
  if (child == 0) {
    InitializeInjection();  // the fake would note a call of it
    ::_exit(0);
  }
  int status = 0;
  EXPECT(::waitpid(child, &status, 0) == child && status == 0);
}

void run_sessions(const nvspan_test::Folder& folder) {
  for (int i = 0; i < sessions; ++i) {
    EXPECT(nvspan_inject_open(config_of(folder, i).c_str()) != 0);
    InitializeInjection();
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
    if (i < releases) {
      nvspan_inject_release_gpu();
      EXPECT(nvspan_inject_take_gpu(1) != 0);
    }
    if (i % 4 == 1 && i / 4 < forks) fork_once();
    nvspan_inject_close();
  }
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) return 2;
  ::setenv("NVSPAN_LIBCUPTI", arguments[1], 1);
  const FakeCupti fake(arguments[1]);
  const nvspan_test::Folder folder;
  std::atomic<bool> ended{false};
  // A clock is there from the first session on.
  EXPECT(nvspan_inject_open(config_of(folder, sessions).c_str()) != 0);
  InitializeInjection();
  launch(fake, "first");
  deliver(fake);
  nvspan_inject_close();
  in_threads(
      launchers + deliverers,
      [&](int number) {
        std::uint64_t graphs = 0;
        while (!ended) {
          if (number < launchers) {
            launch(fake, "kernel " + std::to_string(number));
            replay(fake, static_cast<std::uint64_t>(number) + launchers * graphs++);
          } else {
            deliver(fake);
          }
        }
      },
      [&] {
        run_sessions(folder);
        ended = true;
      });
  EXPECT(std::strstr(fake.log(), "misuse") == nullptr);
  for (int i = 0; i <= sessions; ++i) {
    nvspan::reader::Recording recording;
    EXPECT(recording.add(file_of(folder, i)));
    EXPECT(recording.problems().empty());
    EXPECT(i == sessions || i >= releases || !recording.gaps().empty());
  }
  return nvspan_test::failures() == 0 ? 0 : 1;
}
