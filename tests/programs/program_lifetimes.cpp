// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Events from where a program is hardly alive yet, or hardly any more, and under what programs do
// to their file descriptors, memory and stacks. The first argument says which.

#include "events.hpp"

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <thread>

namespace {

void mark(const char* text, long long number) {
  nvtxEventAttributes_t event = named(text);
  event.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  event.payload.llValue = number;
  nvtxMarkEx(&event);
}

struct Static {
  Static() { nvtxMarkA("constructor of a static"); }
  ~Static() { nvtxMarkA("destructor of a static"); }
} of_the_program;

struct OfThread {
  OfThread() { nvtxRangePushA("life of a thread"); }
  ~OfThread() {
    nvtxMarkA("destructor of a thread");
    nvtxRangePop();
  }
};

void ends() {
  std::atexit([] { nvtxMarkA("atexit"); });
  std::thread([] {
    thread_local OfThread own;
    (void)&own;
    nvtxMarkA("thread");
  }).join();
  nvtxMarkA("main");
}

void reloads(const char* path) {
  for (int i = 0; i < 50; ++i) {
    void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (!plugin) std::exit(2);
    reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_push"))();
    reinterpret_cast<int (*)()>(dlsym(plugin, "plugin_pop"))();
    if (dlclose(plugin) != 0) std::exit(3);
  }
}

// A daemon closes what it has inherited; the numbers are then those of its own files.
void closes_everything(const char* path) {
  mark("before", 0);
  for (int fd = 3; fd < 256; ++fd) close(fd);
  FILE* own = std::fopen(path, "w");
  for (long long i = 0; i < 200000; ++i) mark("after", i);
  std::fputs("the program's own", own);
  std::fclose(own);
}

// No memory is to be had, and the program knows: it goes on.
void has_no_memory() {
  mark("with memory", 0);
  const rlimit none = {1, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &none);
  if (mmap(nullptr, 1 << 20, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED) {
    std::exit(2);
  }
  for (long long i = 0; i < 200000; ++i) mark("without", i);
  const rlimit all = {RLIM_INFINITY, RLIM_INFINITY};
  setrlimit(RLIMIT_AS, &all);
}

void is_deep() {
  for (int i = 0; i < 10000; ++i) {
    if (nvtxRangePushA("deep") != i) std::exit(2);
  }
  for (int i = 10000; i-- > 0;) {
    if (nvtxRangePop() != i) std::exit(3);
  }
}

void has_many_names(long long count) {
  for (long long i = 0; i < count; ++i) mark(std::to_string(i).c_str(), i);
}

void loses_its_file(const std::string& folder) {
  mark("before", 0);
  const std::string path = folder + "/run-" + std::to_string(getpid()) + ".nvspan";
  if (unlink(path.c_str()) != 0) std::exit(2);
  for (long long i = 0; i < 200000; ++i) mark("after", i);
}

}  // namespace

int main(int argc, char** argv) {
  const std::string what = argc > 1 ? argv[1] : "";
  const char* argument = argc > 2 ? argv[2] : "";
  if (what == "ends") ends();
  if (what == "reloads") reloads(argument);
  if (what == "closes") closes_everything(argument);
  if (what == "no memory") has_no_memory();
  if (what == "deep") is_deep();
  if (what == "names") has_many_names(std::atoll(argument));
  if (what == "unlink") loses_its_file(argument);
  std::puts("done");
  return 0;
}
