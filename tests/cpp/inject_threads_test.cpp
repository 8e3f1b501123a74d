// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The injection library under many threads: connecting, tracing, closing and opening again, and
// forking, all at once. Made for ThreadSanitizer and AddressSanitizer:
//
//   g++ -std=c++17 -g -O1 -fsanitize=thread -pthread -Isrc -isystem NVTX_INCLUDE_DIRECTORY
//       tests/cpp/inject_threads_test.cpp src/{core,trace,record,inject}/*/*.cpp -ldl
//       -o inject_threads_test
//
// Linked without the library's sources, it loads the library that NVSPAN_INJECT_LIBRARY names, or
// does nothing.

#include <dlfcn.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.hpp"
#include "folder.hpp"
#include "nvtx_client.hpp"
#include "threads.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <thread>

extern "C" {
__attribute__((weak)) int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t);
__attribute__((weak)) int nvspan_inject_open(const char*);
__attribute__((weak)) void nvspan_inject_close();
}

namespace {

using nvspan_test::client;
using nvspan_test::in_threads;

constexpr int thread_count = 16;
constexpr int rounds = 20;  // of each thread after the last session was opened
constexpr int sessions = 40;
constexpr int forks = 10;

struct Library {
  int (*connect)(NvtxGetExportTableFunc_t) = InitializeInjectionNvtx2;
  int (*open)(const char*) = nvspan_inject_open;
  void (*close)() = nvspan_inject_close;

  bool load() {
    if (open != nullptr) return true;
    const char* path = std::getenv("NVSPAN_INJECT_LIBRARY");
    if (path == nullptr) return false;
    void* handle = dlopen(path, RTLD_NOW);
    if (handle == nullptr) {
      std::fprintf(stderr, "%s\n", dlerror());
      std::exit(1);
    }
    connect = reinterpret_cast<int (*)(NvtxGetExportTableFunc_t)>(
        dlsym(handle, "InitializeInjectionNvtx2"));
    open = reinterpret_cast<int (*)(const char*)>(dlsym(handle, "nvspan_inject_open"));
    close = reinterpret_cast<void (*)()>(dlsym(handle, "nvspan_inject_close"));
    return connect != nullptr && open != nullptr && close != nullptr;
  }
};

nvtxEventAttributes_t attributes(const char* message) {
  nvtxEventAttributes_t made = {};
  made.version = NVTX_VERSION;
  made.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  made.messageType = NVTX_MESSAGE_TYPE_ASCII;
  made.message.ascii = message;
  return made;
}

void work(int number, const std::atomic<bool>& all_opened) {
  const auto push =
      client.in_core2<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx);
  const auto pop = client.in_core2<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop);
  const auto create = client.in_core2<nvtxDomainCreateA_impl_fntype>(NVTX_CBID_CORE2_DomainCreateA);
  const auto destroy =
      client.in_core2<nvtxDomainDestroy_impl_fntype>(NVTX_CBID_CORE2_DomainDestroy);
  const auto add_string =
      client.in_core2<nvtxDomainRegisterStringA_impl_fntype>(NVTX_CBID_CORE2_DomainRegisterStringA);
  const auto mark = client.in_core<nvtxMarkA_impl_fntype>(NVTX_CBID_CORE_MarkA);
  const auto start = client.in_core<nvtxRangeStartA_impl_fntype>(NVTX_CBID_CORE_RangeStartA);
  const auto end = client.in_core<nvtxRangeEnd_impl_fntype>(NVTX_CBID_CORE_RangeEnd);
  const auto name_thread =
      client.in_core<nvtxNameOsThreadA_impl_fntype>(NVTX_CBID_CORE_NameOsThreadA);
  const std::string name = "thread " + std::to_string(number);
  for (int round = 0, left = rounds; left > 0; ++round) {
    if (all_opened) --left;
    const nvtxDomainHandle_t domain = create(name.c_str());
    nvtxEventAttributes_t event = attributes(name.c_str());
    push(domain, &event);
    event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
    event.message.registered = add_string(domain, std::to_string(round % 100).c_str());
    push(domain, &event);
    const nvtxRangeId_t id = start(name.c_str());
    mark("mark");
    name_thread(static_cast<std::uint32_t>(number), name.c_str());
    pop(domain);
    pop(domain);
    end(id);
    destroy(domain);
  }
}

std::string config(const std::string& path) { return "format=jsonl;file=" + path; }

// Every line is whole, whichever thread or process wrote it.
void check_file(const std::string& path, int least) {
  std::ifstream file(path);
  std::string line;
  int count = 0;
  while (std::getline(file, line)) {
    ++count;
    EXPECT(line.rfind("{\"kind\": \"", 0) == 0 && line.back() == '}');
  }
  EXPECT(count >= least);
}

void test_sessions_while_threads_work(const Library& library, const std::string& path) {
  EXPECT(library.open(config(path).c_str()) != 0);
  EXPECT(library.open(config(path).c_str()) == 0);
  EXPECT(library.connect(nvspan_test::get_export_table) != 0);
  std::atomic<bool> all_opened{false};
  const auto open_again = [&] {
    for (int i = 0; i < sessions; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      library.close();
      EXPECT(library.open(config(path).c_str()) != 0);
      if (i % (sessions / forks) != 0) continue;
      const pid_t child = fork();
      if (child == 0) {
        client.in_core<nvtxMarkA_impl_fntype>(NVTX_CBID_CORE_MarkA)("in the child");
        _exit(0);
      }
      int status = 0;
      EXPECT(waitpid(child, &status, 0) == child && status == 0);
    }
    all_opened = true;
  };
  in_threads(thread_count, [&](int i) { work(i, all_opened); }, open_again);
  library.close();
  constexpr int calls = 7;  // of a round that are a line each: pushes, pops, start, mark, end
  check_file(path, thread_count * rounds * calls);
}

void test_depth_after_opening_again(const Library& library, const std::string& path) {
  const auto push = client.in_core<nvtxRangePushA_impl_fntype>(NVTX_CBID_CORE_RangePushA);
  const auto pop = client.in_core<nvtxRangePop_impl_fntype>(NVTX_CBID_CORE_RangePop);
  EXPECT(push("closed") == NVTX_NO_PUSH_POP_TRACKING);
  EXPECT(library.open(config(path).c_str()) != 0);
  EXPECT(push("first") == 0);
  EXPECT(push("second") == 1);
  library.close();
  EXPECT(pop() == NVTX_NO_PUSH_POP_TRACKING);
  EXPECT(library.open(config(path).c_str()) != 0);
  EXPECT(pop() == -1);
  EXPECT(push("again") == 0);
  EXPECT(pop() == 0);
  library.close();
  library.close();
}

void test_everyone_connects(const Library& library, const std::string& path) {
  EXPECT(library.open(config(path).c_str()) != 0);
  std::atomic<int> connected{0};
  in_threads(thread_count, [&](int) {
    connected += library.connect([](std::uint32_t id) -> const void* {
      static const NvtxExportTableCallbacks empty = {
          sizeof empty, [](NvtxCallbackModule, NvtxFunctionTable*, unsigned*) { return 0; }};
      return id == NVTX_ETID_CALLBACKS ? &empty : nullptr;
    }) != 0;
  });
  EXPECT(connected == thread_count);
  EXPECT(library.connect(nullptr) == 0);
  EXPECT(library.connect([](std::uint32_t) -> const void* { return nullptr; }) == 0);
  library.close();
}

void test_bad_configurations(const Library& library) {
  EXPECT(library.open("format=xml") == 0);
  EXPECT(library.open("file=/no/such/folder/file") == 0);
  EXPECT(library.open(nullptr) != 0);
  library.close();
}

}  // namespace

int main() {
  Library library;
  if (!library.load()) {
    std::puts("skipped: NVSPAN_INJECT_LIBRARY is not set");
    return 0;
  }
  const nvspan_test::Folder folder;
  const std::string path = folder.path("trace.jsonl");
  test_sessions_while_threads_work(library, path);
  test_depth_after_opening_again(library, path);
  test_everyone_connects(library, path);
  test_bad_configurations(library);
  std::printf("%s\n", nvspan_test::failures() == 0 ? "ok" : "failed");
  return nvspan_test::failures() == 0 ? 0 : 1;
}
