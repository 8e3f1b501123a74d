// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Loads the two plugins named on the command line. Each connects to the tool for itself, and what
// one gets from it means the same in the other and in the program. With "race", many threads make
// the first NVTX calls of both.

#include "events.hpp"

#include <dlfcn.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

namespace {

struct Plugin {
  nvtxDomainHandle_t (*domain)();
  nvtxStringHandle_t (*string)();
  int (*push)();
  int (*pop)();
};

Plugin load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  const auto find = [&](const char* name) { return dlsym(library, name); };
  return Plugin{
      reinterpret_cast<nvtxDomainHandle_t (*)()>(find("plugin_domain")),
      reinterpret_cast<nvtxStringHandle_t (*)()>(find("plugin_string")),
      reinterpret_cast<int (*)()>(find("plugin_push")),
      reinterpret_cast<int (*)()>(find("plugin_pop")),
  };
}

void race(const Plugin& a, const Plugin& b) {
  constexpr int count = 32;
  std::atomic<int> waiting{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      const Plugin& plugin = i % 2 == 0 ? a : b;
      ++waiting;
      while (waiting < count) std::this_thread::yield();
      if (plugin.push() != 0 || plugin.pop() != 0) std::_Exit(2);
    });
  }
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  if (argc > 3) {
    race(load(argv[1]), load(argv[2]));
    return 0;
  }
  nvtxRangePushA("main");
  const Plugin a = load(argv[1]);
  const Plugin b = load(argv[2]);
  a.push();
  b.push();
  if (a.domain() == b.domain() || a.string() == b.string()) return 2;
  const nvtxEventAttributes_t event = named(a.string());
  nvtxDomainMarkEx(a.domain(), &event);
  a.pop();
  b.pop();
  nvtxRangePop();
}
