// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// endings HOW: makes numbered marks inside an open range and ends as HOW says: segfault, abort,
// _exit, quick_exit or return. With HOW allocations it counts what an event allocates; with hook
// its own malloc makes events.

#include "events.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstring>

extern "C" void* __libc_malloc(std::size_t size);

namespace {

std::atomic<long> allocations{0};
std::atomic<bool> annotate_malloc{false};

void mark(std::uint64_t number) {
  const nvtxEventAttributes_t attributes = numbered("number", number);
  nvtxMarkEx(&attributes);
}

void every_call(int round) {
  nvtxRangePushA("range");
  mark(static_cast<std::uint64_t>(round));
  const nvtxRangeId_t id = nvtxRangeStartA("started");
  nvtxRangeEnd(id);
  nvtxRangePop();
}

}  // namespace

extern "C" void* malloc(std::size_t size) {
  ++allocations;
  if (annotate_malloc) nvtxMarkA("malloc");
  return __libc_malloc(size);
}

int main(int argc, char** argv) {
  const char* how = argc > 1 ? argv[1] : "";
  constexpr int marks = 10000;
  if (std::strcmp(how, "allocations") == 0) {
    every_call(0);
    const long before = allocations;
    for (int i = 1; i < 100000; ++i) every_call(i);  // many chunks of the file
    std::printf("%ld\n", allocations - before);
    return 0;
  }
  if (std::strcmp(how, "hook") == 0) {
    // NVTX itself would wait for ever: it allocates during its first call.
    mark(0);
    annotate_malloc = true;
    void* volatile kept = nullptr;
    for (int i = 0; i < 1000; ++i) {
      kept = std::malloc(16);
      std::free(kept);
    }
    annotate_malloc = false;
    return 0;
  }
  nvtxRangePushA("open");
  for (int i = 0; i < marks; ++i) mark(static_cast<std::uint64_t>(i));
  if (std::strcmp(how, "segfault") == 0) *static_cast<volatile int*>(nullptr) = 1;
  if (std::strcmp(how, "abort") == 0) std::abort();
  if (std::strcmp(how, "_exit") == 0) _exit(0);
  if (std::strcmp(how, "quick_exit") == 0) std::quick_exit(0);
  return 0;
}
