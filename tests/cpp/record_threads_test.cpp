// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The recorder under many threads: recording while it is stopped and started again, threads that
// come and go, forks, a ring that wraps. Made for ThreadSanitizer and AddressSanitizer.

#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>
#include <thread>

#include "expect.hpp"
#include "folder.hpp"
#include "nvtx_client.hpp"
#include "reader/live/live_file.hpp"
#include "reader/live/live_request.hpp"
#include "reader/live/live_watch.hpp"
#include "reader/stats/aggregate.hpp"
#include "reader/tables/tables.hpp"
#include "threads.hpp"

extern "C" {
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t);
int nvspan_inject_open(const char*);
void nvspan_inject_close();
}

namespace {

using nvspan_test::client;
using nvspan_test::Folder;
using nvspan_test::in_threads;

constexpr int thread_count = 8;
constexpr int rounds = 2000;
constexpr int sessions = 12;
constexpr int forks = 6;

int push(const char* text) {
  return client.in_core<nvtxRangePushA_impl_fntype>(NVTX_CBID_CORE_RangePushA)(text);
}
int pop() { return client.in_core<nvtxRangePop_impl_fntype>(NVTX_CBID_CORE_RangePop)(); }
void mark(const char* text) { client.in_core<nvtxMarkA_impl_fntype>(NVTX_CBID_CORE_MarkA)(text); }
nvtxRangeId_t start(const char* text) {
  return client.in_core<nvtxRangeStartA_impl_fntype>(NVTX_CBID_CORE_RangeStartA)(text);
}
void end(nvtxRangeId_t id) {
  client.in_core<nvtxRangeEnd_impl_fntype>(NVTX_CBID_CORE_RangeEnd)(id);
}
nvtxDomainHandle_t create(const char* name) {
  return client.in_core2<nvtxDomainCreateA_impl_fntype>(NVTX_CBID_CORE2_DomainCreateA)(name);
}
nvtxStringHandle_t add_string(nvtxDomainHandle_t domain, const char* text) {
  return client.in_core2<nvtxDomainRegisterStringA_impl_fntype>(
      NVTX_CBID_CORE2_DomainRegisterStringA)(domain, text);
}
void push_in(nvtxDomainHandle_t domain, nvtxStringHandle_t message) {
  nvtxEventAttributes_t event = {};
  event.version = NVTX_VERSION;
  event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
  event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
  event.message.registered = message;
  client.in_core2<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx)(domain,
                                                                                        &event);
}
void pop_in(nvtxDomainHandle_t domain) {
  client.in_core2<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop)(domain);
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

std::string config(const Folder& folder, const char* rest) {
  return "format=record;file=" + folder.path("run-{pid}.nvspan") + rest;
}

void read(const Folder& folder, nvspan::reader::Recording& made) {
  for (const auto& entry : std::filesystem::directory_iterator(folder.path(""))) {
    EXPECT(made.add(entry.path().string()));
  }
  for (const std::string& problem : made.problems()) EXPECT_EQUAL(problem, "");
}

void test_all_is_there(const char* mode, bool whole) {
  const Folder folder;
  EXPECT(nvspan_inject_open(config(folder, mode).c_str()) != 0);
  in_threads(thread_count, [](int i) { work(i, rounds); });
  nvspan_inject_close();
  nvspan::reader::Recording recording;
  read(folder, recording);
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
  EXPECT(nvspan_inject_open(config(folder, mode).c_str()) != 0);
  std::atomic<int> running{thread_count};
  const auto record = [&](int i) {
    work(i, rounds);
    --running;
  };
  in_threads(thread_count, record, [&] {
    for (int i = 0; i < sessions && running > 0; ++i) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      nvspan_inject_close();
      EXPECT(nvspan_inject_open(config(folder, mode).c_str()) != 0);
    }
  });
  nvspan_inject_close();
  nvspan::reader::Recording recording;
  read(folder, recording);
  EXPECT(recording.processes().size() > 1);
  nvspan::reader::make_tables(recording);
  EXPECT(recording.problems().empty());
}

// Another process' requests come while threads record: nothing is damaged, and a reader of what is
// open sees names that were there.
void test_switching() {
  const Folder folder;
  EXPECT(nvspan_inject_open(config(folder, ";mode=armed").c_str()) != 0);
  const std::string path = std::filesystem::directory_iterator(folder.path(""))->path().string();
  std::atomic<bool> enough{false};
  nvspan::reader::LiveFile file;
  EXPECT(file.open(path));
  nvspan::reader::LiveFile watched;
  EXPECT(watched.open(path));
  nvspan::reader::LiveWatch watch(watched);
  constexpr std::uint64_t wait = 20 * 1000 * 1000;  // ns
  int obeyed = 0;
  const auto until_enough = [&](int i) {
    while (!enough) work(i, 100);
  };
  in_threads(thread_count, until_enough, [&] {
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
  });
  nvspan_inject_close();
  EXPECT(obeyed == 30);
  nvspan::reader::Recording recording;
  read(folder, recording);
  nvspan::reader::make_tables(recording);
  EXPECT(recording.problems().empty());
}

void test_short_threads() {
  const Folder folder;
  EXPECT(nvspan_inject_open(config(folder, "").c_str()) != 0);
  constexpr int generations = 100;
  for (int i = 0; i < generations; ++i) in_threads(thread_count, [](int j) { work(j, 4); });
  nvspan_inject_close();
  nvspan::reader::Recording recording;
  read(folder, recording);
  EXPECT(recording.threads().size() == std::size_t{generations} * thread_count);
  const nvspan::reader::Tables tables = nvspan::reader::make_tables(recording);
  EXPECT(tables.ranges.size() == std::size_t{3} * 4 * generations * thread_count);
  EXPECT(tables.orphan_ends == 0);
}

void test_forks(const char* mode) {
  const Folder folder;
  EXPECT(nvspan_inject_open(config(folder, mode).c_str()) != 0);
  const auto fork_often = [] {
    for (int i = 0; i < forks; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        const bool first = push("in the child") == 0;
        _exit(first && pop() == 0 ? 0 : 1);
      }
      int status = 0;
      EXPECT(waitpid(child, &status, 0) == child && status == 0);
    }
  };
  in_threads(thread_count, [](int i) { work(i, rounds); }, fork_often);
  nvspan_inject_close();
  nvspan::reader::Recording recording;
  read(folder, recording);
  EXPECT(recording.processes().size() == forks + 1);
}

}  // namespace

int main() {
  {
    const Folder folder;
    EXPECT(nvspan_inject_open(config(folder, "").c_str()) != 0);
    EXPECT(InitializeInjectionNvtx2(nvspan_test::get_export_table) != 0);
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
