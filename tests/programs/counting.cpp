// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Threads that number their events and note, in a file that outlives a kill, how far they are:
// counting FILE THREADS EVENTS (0: until it is killed) HOW, which is ranges, marks, short, or slow:
// ranges with a pause after each, so that a reader that has no core is not left behind for ever.

#include "events.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

namespace {

std::atomic<std::uint64_t>* progress;

void mark(std::uint64_t number) {
  const nvtxEventAttributes_t attributes = numbered("number", number);
  nvtxMarkEx(&attributes);
}

void count(int thread, std::uint64_t events, const std::string& how) {
  for (std::uint64_t i = 0; events == 0 || i < events; ++i) {
    if (how != "marks") nvtxRangePushA("range");
    mark(i);
    if (how != "marks") nvtxRangePop();
    if (how == "slow") std::this_thread::sleep_for(std::chrono::microseconds(20));
    progress[thread * 8].store(i + 1, std::memory_order_relaxed);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 5) return 2;
  const int fd = ::open(argv[1], O_RDWR | O_CREAT, 0600);
  constexpr std::size_t bytes = 4096;
  if (fd < 0 || ::ftruncate(fd, bytes) != 0) return 3;
  void* mapped = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
  if (mapped == MAP_FAILED) return 4;
  progress = static_cast<std::atomic<std::uint64_t>*>(mapped);
  const int threads = std::atoi(argv[2]);
  const std::uint64_t events = std::strtoull(argv[3], nullptr, 10);
  const std::string how = argv[4];
  if (how == "short") {
    for (std::uint64_t i = 0; i < events; ++i) std::thread([i] { mark(i); }).join();
  } else {
    std::vector<std::thread> running;
    for (int i = 0; i < threads; ++i) running.emplace_back(count, i, events, how);
    for (std::thread& thread : running) thread.join();
  }
  // Of this program alone: getrusage() remembers what forked before it became this one.
  std::ifstream status("/proc/self/status");
  std::string line;
  while (std::getline(status, line) && line.rfind("VmHWM:", 0) != 0) {
  }
  std::printf("done %s\n", line.c_str());
}
