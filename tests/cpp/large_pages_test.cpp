// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The recorder on a kernel whose pages have 64 KiB, which refuses every other place for a mapping.
// The linker puts the functions below in front of the system's (--wrap).

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <string>

#include "expect.hpp"
#include "folder.hpp"
#include "nvtx_client.hpp"
#include "reader/file/recording.hpp"
#include "reader/stats/aggregate.hpp"
#include "threads.hpp"

namespace {
constexpr std::uintptr_t large = 64 * 1024;
int refused = 0;
}  // namespace

extern "C" {
int InitializeInjectionNvtx2(NvtxGetExportTableFunc_t);
int nvspan_inject_open(const char*);
void nvspan_inject_close();

long __real_sysconf(int name);
void* __real_mmap(void* at, std::size_t bytes, int access, int flags, int fd, off_t offset);

long __wrap_sysconf(int name) {
  return name == _SC_PAGESIZE ? static_cast<long>(large) : __real_sysconf(name);
}

void* __wrap_mmap(void* at, std::size_t bytes, int access, int flags, int fd, off_t offset) {
  const auto address = reinterpret_cast<std::uintptr_t>(at);
  const bool fixed = (flags & MAP_FIXED) != 0;
  if (static_cast<std::uintptr_t>(offset) % large != 0 || (fixed && address % large != 0)) {
    ++refused;
    errno = EINVAL;
    return MAP_FAILED;
  }
  if (fixed) return __real_mmap(at, bytes, access, flags, fd, offset);
  void* const room = __real_mmap(nullptr, bytes + large, PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return MAP_FAILED;
  const std::uintptr_t start = (reinterpret_cast<std::uintptr_t>(room) + large - 1) & ~(large - 1);
  return __real_mmap(reinterpret_cast<void*>(start), bytes, access, flags | MAP_FIXED, fd, offset);
}
}

namespace {

using nvspan_test::client;
using nvspan_test::Folder;

constexpr int thread_count = 4;
constexpr int rounds = 20000;

void work(int) {
  const auto push = client.in_core<nvtxRangePushA_impl_fntype>(NVTX_CBID_CORE_RangePushA);
  const auto pop = client.in_core<nvtxRangePop_impl_fntype>(NVTX_CBID_CORE_RangePop);
  for (int round = 0; round < rounds; ++round) {
    push("outer");
    push("inner");
    pop();
    pop();
  }
}

std::string config(const Folder& folder, const char* mode) {
  return "format=record;file=" + folder.path() + mode;
}

void test_all_is_there() {
  const Folder folder;
  EXPECT(nvspan_inject_open(config(folder, "").c_str()) != 0);
  nvspan_test::in_threads(thread_count, work);
  nvspan_inject_close();
  nvspan::reader::Recording recording;
  EXPECT(recording.add(folder.path()));
  EXPECT(recording.problems().empty());
  const nvspan::reader::Aggregate made = nvspan::reader::aggregate(recording, {});
  std::uint64_t calls = 0;
  for (const auto& row : made.rows) calls += row->calls;
  EXPECT(calls == std::uint64_t{2} * thread_count * rounds);
  EXPECT(made.lost == 0);
}

// A store into what is gone of the file finds memory, in whole pages.
void test_a_file_that_is_cut(const char* mode) {
  const Folder folder;
  EXPECT(nvspan_inject_open(config(folder, mode).c_str()) != 0);
  work(0);
  std::filesystem::resize_file(folder.path(), 4096);
  work(0);
  nvspan_inject_close();
}

}  // namespace

int main() {
  {
    const Folder folder;
    EXPECT(nvspan_inject_open(config(folder, "").c_str()) != 0);
    EXPECT(InitializeInjectionNvtx2(nvspan_test::get_export_table) != 0);
    nvspan_inject_close();
  }
  test_all_is_there();
  for (const char* mode : {"", ";mode=ring:131072"}) test_a_file_that_is_cut(mode);
  EXPECT(refused == 0);
  std::printf("%s\n", nvspan_test::failures() == 0 ? "ok" : "failed");
  return nvspan_test::failures() == 0 ? 0 : 1;
}
