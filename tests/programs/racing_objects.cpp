// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Many threads make the first NVTX calls of the two quiet plugins named on the command line.

#include <dlfcn.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

constexpr int thread_count = 32;

struct Plugin {
  int (*push)();
  int (*pop)();
};

Plugin load(const char* path) {
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  return Plugin{reinterpret_cast<int (*)()>(dlsym(library, "plugin_push")),
                reinterpret_cast<int (*)()>(dlsym(library, "plugin_pop"))};
}

}  // namespace

int main(int, char** argv) {
  const Plugin plugins[] = {load(argv[1]), load(argv[2])};
  std::atomic<int> waiting{0};
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      const Plugin& plugin = plugins[i % 2];
      ++waiting;
      while (waiting < thread_count) std::this_thread::yield();
      if (plugin.push() != 0 || plugin.pop() != 0) std::_Exit(2);
    });
  }
  for (std::thread& thread : threads) thread.join();
}
