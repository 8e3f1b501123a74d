// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The recorder under many threads: recording while it is stopped and started again, threads that
// come and go, forks, a ring that wraps. Made for ThreadSanitizer and AddressSanitizer.

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "expect.hpp"
#include "reader/live/live_file.hpp"
#include "reader/live/live_request.hpp"
#include "reader/live/live_watch.hpp"
#include "reader/stats/aggregate.hpp"
#include "reader/tables/tables.hpp"

extern "C" {
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t);
int nvspan_inject_open(const char*);
void nvspan_inject_close();
}

namespace {

constexpr int thread_count = 8;
constexpr int rounds = 2000;
constexpr int sessions = 12;
constexpr int forks = 6;

// The program's side of NVTX: tables of function pointers that a tool fills.
NvtxFunctionPointer core[NVTX_CBID_CORE_SIZE];
NvtxFunctionPointer core2[NVTX_CBID_CORE2_SIZE];
NvtxFunctionPointer* core_table[NVTX_CBID_CORE_SIZE];
NvtxFunctionPointer* core2_table[NVTX_CBID_CORE2_SIZE];

int get_module_table(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned* size) {
  if (module != NVTX_CB_MODULE_CORE && module != NVTX_CB_MODULE_CORE2) return 0;
  *table = module == NVTX_CB_MODULE_CORE ? core_table : core2_table;
  *size = module == NVTX_CB_MODULE_CORE ? unsigned{NVTX_CBID_CORE_SIZE}
                                        : unsigned{NVTX_CBID_CORE2_SIZE};
  return 1;
}

const void* get_export_table(std::uint32_t id) {
  static const NvtxExportTableCallbacks callbacks = {sizeof callbacks, get_module_table};
  return id == NVTX_ETID_CALLBACKS ? &callbacks : nullptr;
}

void connect() {
  for (int i = 1; i < NVTX_CBID_CORE_SIZE; ++i) core_table[i] = &core[i];
  for (int i = 1; i < NVTX_CBID_CORE2_SIZE; ++i) core2_table[i] = &core2[i];
  EXPECT(InitializeInjectionNvtx2(get_export_table) != 0);
}

int push(const char* text) {
  return reinterpret_cast<nvtxRangePushA_impl_fntype>(core[NVTX_CBID_CORE_RangePushA])(text);
}
int pop() { return reinterpret_cast<nvtxRangePop_impl_fntype>(core[NVTX_CBID_CORE_RangePop])(); }
void mark(const char* text) {
  reinterpret_cast<nvtxMarkA_impl_fntype>(core[NVTX_CBID_CORE_MarkA])(text);
}
nvtxRangeId_t start(const char* text) {
  return reinterpret_cast<nvtxRangeStartA_impl_fntype>(core[NVTX_CBID_CORE_RangeStartA])(text);
}
void end(nvtxRangeId_t id) {
  reinterpret_cast<nvtxRangeEnd_impl_fntype>(core[NVTX_CBID_CORE_RangeEnd])(id);
}
nvtxDomainHandle_t create(const char* name) {
  return reinterpret_cast<nvtxDomainCreateA_impl_fntype>(core2[NVTX_CBID_CORE2_DomainCreateA])(
      name);
}
nvtxStringHandle_t add_string(nvtxDomainHandle_t domain, const char* text) {
  return reinterpret_cast<nvtxDomainRegisterStringA_impl_fntype>(
      core2[NVTX_CBID_CORE2_DomainRegisterStringA])(domain, text);
}
void push_in(nvtxDomainHandle_t domain, nvtxStringHandle_t message) {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = message;
  reinterpret_cast<nvtxDomainRangePushEx_impl_fntype>(core2[NVTX_CBID_CORE2_DomainRangePushEx])(
      domain, &event);
}
void pop_in(nvtxDomainHandle_t domain) {
  reinterpret_cast<nvtxDomainRangePop_impl_fntype>(core2[NVTX_CBID_CORE2_DomainRangePop])(domain);
}

void work(int number, int count) {
  const std::string name = "thread " + std::to_string(number);
  const nvtxDomainHandle_t domain = create("shared");
  const nvtxStringHandle_t message = add_string(domain, name.c_str());
  for (int round = 0; round < count; ++round) {
    push("outer");
    push_in(domain, message);
    const nvtxRangeId_t id = start(name.c_str());
    if (round % 16 == 0) mark(std::to_string(round).c_str());
    end(id);
    pop_in(domain);
    pop();
  }
}

struct Folder {
  std::string path = "/tmp/nvspan-record-test-XXXXXX";
  Folder() {
    if (mkdtemp(path.data()) == nullptr) std::exit(1);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  Folder(Folder&&) = delete;
  Folder& operator=(Folder&&) = delete;
  ~Folder() { std::filesystem::remove_all(path); }

  std::string config(const char* rest) const {
    return "format=record;file=" + path + "/run-{pid}.nvspan" + rest;
  }
  void read(nvspan::reader::Recording& made) const {
    for (const auto& entry : std::filesystem::directory_iterator(path)) {
      EXPECT(made.add(entry.path().string()));
    }
    for (const std::string& problem : made.problems()) {
      std::fprintf(stderr, "%s\n", problem.c_str());
      ++nvspan_test::failures();
    }
  }
};

void run(std::vector<std::thread>& threads) {
  for (std::thread& thread : threads) thread.join();
  threads.clear();
}

void test_all_is_there(const char* mode, bool whole) {
  const Folder folder;
  EXPECT(nvspan_inject_open(folder.config(mode).c_str()) != 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) threads.emplace_back(work, i, rounds);
  run(threads);
  nvspan_inject_close();
  nvspan::reader::Recording recording;
  folder.read(recording);
  const nvspan::reader::Aggregate made = nvspan::reader::aggregate(recording, {});
  std::uint64_t calls = 0;
  for (const auto& row : made.rows) calls += row->calls;
  if (whole) EXPECT(calls == std::uint64_t{3} * thread_count * rounds);
  EXPECT(calls > 0 && calls <= std::uint64_t{3} * thread_count * rounds);
  EXPECT(made.lost == 0);
}

// Each file holds a part of what was called, in pairs or unclosed.
void test_stop_and_start(const char* mode) {
  const Folder folder;
  const std::string config = folder.config(mode);
  EXPECT(nvspan_inject_open(config.c_str()) != 0);
  std::atomic<int> running{thread_count};
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      work(i, rounds);
      --running;
    });
  }
  for (int i = 0; i < sessions && running > 0; ++i) {
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    nvspan_inject_close();
    EXPECT(nvspan_inject_open(config.c_str()) != 0);
  }
  run(threads);
  nvspan_inject_close();
  nvspan::reader::Recording recording;
  folder.read(recording);
  EXPECT(recording.processes().size() > 1);
  nvspan::reader::make_tables(recording);
  EXPECT(recording.problems().empty());
}

// Another process' requests come while threads record: nothing is damaged, and a reader of what is
// open sees names that were there.
void test_switching() {
  const Folder folder;
  EXPECT(nvspan_inject_open(folder.config(";mode=armed").c_str()) != 0);
  const std::string path = std::filesystem::directory_iterator(folder.path)->path().string();
  std::atomic<bool> enough{false};
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) {
    threads.emplace_back([&, i] {
      while (!enough) work(i, 100);
    });
  }
  nvspan::reader::LiveFile file;
  EXPECT(file.open(path));
  nvspan::reader::LiveFile watched;
  EXPECT(watched.open(path));
  nvspan::reader::LiveWatch watch(watched);
  constexpr std::uint64_t wait = 20 * 1000 * 1000;  // ns
  int obeyed = 0;
  for (unsigned i = 0; obeyed < 30 && i < 300; ++i) {
    using nvspan::record::RecordMode;
    constexpr RecordMode modes[] = {RecordMode::full, RecordMode::ring, RecordMode::armed};
    nvspan::reader::LiveRequest request;
    request.mode = static_cast<std::uint64_t>(modes[i % 3]);
    request.ring_bytes = 1 << 17;
    std::string problem;
    obeyed +=
        nvspan::reader::ask(path, request, wait, problem) == nvspan::reader::LiveAnswer::obeyed;
    for (int look = 0; look < 100; ++look) EXPECT(watch.look());
    for (const nvspan::reader::LiveTally& tally : watch.tallies()) {
      std::uint32_t looks = 0;
      for (const nvspan::reader::LiveNode& node : tally.nodes) looks += node.looks;
      EXPECT(looks == tally.looks);
    }
    if (i % 2 != 0) watch.clear();
    nvspan::reader::LiveSample sample;
    EXPECT(file.sample(sample));
    for (const auto& thread : sample.threads) {
      for (std::size_t n = 0; n < thread.open_count; ++n) {
        const auto name = file.names().name(thread.open[n]);
        EXPECT(name.text == "outer" || name.text.substr(0, 7) == "thread ");
      }
    }
  }
  enough = true;
  run(threads);
  nvspan_inject_close();
  EXPECT(obeyed == 30);
  nvspan::reader::Recording recording;
  folder.read(recording);
  nvspan::reader::make_tables(recording);
  EXPECT(recording.problems().empty());
}

void test_short_threads() {
  const Folder folder;
  EXPECT(nvspan_inject_open(folder.config("").c_str()) != 0);
  constexpr int generations = 100;
  std::vector<std::thread> threads;
  for (int i = 0; i < generations; ++i) {
    for (int j = 0; j < thread_count; ++j) threads.emplace_back(work, j, 4);
    run(threads);
  }
  nvspan_inject_close();
  nvspan::reader::Recording recording;
  folder.read(recording);
  EXPECT(recording.threads().size() == std::size_t{generations} * thread_count);
  const nvspan::reader::Tables tables = nvspan::reader::make_tables(recording);
  EXPECT(tables.ranges.size() == std::size_t{3} * 4 * generations * thread_count);
  EXPECT(tables.orphan_ends == 0);
}

void test_forks(const char* mode) {
  const Folder folder;
  EXPECT(nvspan_inject_open(folder.config(mode).c_str()) != 0);
  std::vector<std::thread> threads;
  for (int i = 0; i < thread_count; ++i) threads.emplace_back(work, i, rounds);
  for (int i = 0; i < forks; ++i) {
    const pid_t child = fork();
    if (child == 0) {
      const bool first = push("in the child") == 0;
      _exit(first && pop() == 0 ? 0 : 1);
    }
    int status = 0;
    EXPECT(waitpid(child, &status, 0) == child && status == 0);
  }
  run(threads);
  nvspan_inject_close();
  nvspan::reader::Recording recording;
  folder.read(recording);
  EXPECT(recording.processes().size() == forks + 1);
}

}  // namespace

int main() {
  {
    const Folder folder;
    EXPECT(nvspan_inject_open(folder.config("").c_str()) != 0);
    connect();
    nvspan_inject_close();
  }
  test_all_is_there("", true);
  test_all_is_there(";mode=stats", true);
  test_all_is_there(";mode=ring:131072", false);
  test_all_is_there(";min_duration=1", false);
  for (const char* mode : {"", ";mode=stats", ";mode=ring:131072", ";mode=armed"}) {
    test_stop_and_start(mode);
  }
  test_switching();
  test_short_threads();
  for (const char* mode : {"", ";mode=ring:131072"}) test_forks(mode);
  std::printf("%s\n", nvspan_test::failures() == 0 ? "ok" : "failed");
  return nvspan_test::failures() == 0 ? 0 : 1;
}
