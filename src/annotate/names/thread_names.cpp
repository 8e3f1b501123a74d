// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/names/thread_names.hpp"

#include <atomic>
#include <map>
#include <mutex>

#include "annotate/tool/attachment.hpp"
#include "core/os/fork_lock.hpp"
#include "core/os/library.hpp"

#if defined(_WIN32)
#include <windows.h>
#elif defined(__APPLE__)
#include <pthread.h>
#else
#include <sys/syscall.h>
#include <unistd.h>
#endif

namespace nvspan::annotate {

namespace {

struct ThreadNames {
  std::mutex mutex;
  std::map<uint32_t, std::string> by_id;
};

ThreadNames& thread_names() noexcept {
  static ThreadNames* const it = new ThreadNames;
  return *it;
}

#if NVSPAN_HAVE_NVTX
void send_name(const ToolTable& tool, uint32_t id, const std::string& name) noexcept {
  auto call = tool.core_slot<nvtxNameOsThreadA_impl_fntype>(NVTX_CBID_CORE_NameOsThreadA);
  if (call) call(id, name.c_str());
}
#else
void send_name(const ToolTable&, uint32_t, const std::string&) noexcept {}
#endif

#if defined(__linux__)
bool lives(uint32_t id) noexcept {
  const std::string path = "/proc/self/task/" + std::to_string(id);
  return access(path.c_str(), F_OK) == 0;
}
#else
bool lives(uint32_t) noexcept { return true; }
#endif

std::atomic<ThreadNamer> thread_namer{nullptr};

std::mutex& thread_names_mutex() noexcept { return thread_names().mutex; }

// A forked child has one thread, with a new id and the name of the one that forked.
uint32_t forking_thread;
void note_forking_thread() noexcept { forking_thread = native_thread_id(); }
void keep_forking_thread() noexcept {
  auto& by_id = thread_names().by_id;
  const auto found = by_id.find(forking_thread);
  const std::string name = found == by_id.end() ? std::string() : found->second;
  by_id.clear();
  if (!name.empty()) by_id[native_thread_id()] = name;
}

void drop_dead(std::map<uint32_t, std::string>& by_id) {
  for (auto it = by_id.begin(); it != by_id.end();) {
    it = lives(it->first) ? std::next(it) : by_id.erase(it);
  }
}

}  // namespace

uint32_t native_thread_id() noexcept {
#if defined(_WIN32)
  return static_cast<uint32_t>(GetCurrentThreadId());
#elif defined(__APPLE__)
  uint64_t id = 0;
  pthread_threadid_np(nullptr, &id);
  return static_cast<uint32_t>(id);
#else
  return static_cast<uint32_t>(syscall(SYS_gettid));
#endif
}

void name_thread(uint32_t native_id, const std::string& name) {
  constexpr size_t check_for_dead_above = 1024;
  core::hold_over_forks<thread_names_mutex, keep_forking_thread, note_forking_thread>();
  listening_tool();  // decides, so that the name reaches the tool now or at its attachment
  {
    std::lock_guard<std::mutex> lock(thread_names().mutex);
    thread_names().by_id[native_id] = name;
    if (thread_names().by_id.size() > check_for_dead_above) drop_dead(thread_names().by_id);
  }
  if (const ToolTable* tool = closing_tool()) send_name(*tool, native_id, name);
}

void forget_thread(uint32_t native_id) noexcept {
  std::lock_guard<std::mutex> lock(thread_names().mutex);
  thread_names().by_id.erase(native_id);
}

void send_thread_names(const ToolTable& tool) noexcept {
  std::map<uint32_t, std::string> all;
  {
    std::lock_guard<std::mutex> lock(thread_names().mutex);
    drop_dead(thread_names().by_id);
    all = thread_names().by_id;
  }
  for (const auto& name : all) send_name(tool, name.first, name.second);
}

bool has_thread_name(uint32_t native_id) noexcept {
  std::lock_guard<std::mutex> lock(thread_names().mutex);
  return thread_names().by_id.count(native_id) != 0;
}

size_t named_threads() noexcept {
  std::lock_guard<std::mutex> lock(thread_names().mutex);
  return thread_names().by_id.size();
}

void set_thread_namer(ThreadNamer namer) noexcept { thread_namer.store(namer); }

#if NVSPAN_HAVE_NVTX
void send_thread_namer(const ToolTable& tool) noexcept {
  const ThreadNamer namer = thread_namer.load();
  if (!namer) return;
  for (unsigned id = 1; id < NVTX_CBID_CORE2_SIZE; ++id) {
    const auto function = tool.core2_slot<void (*)()>(id);
    if (!function) continue;
    const std::string path = core::library_of(function);
    const core::Library library = core::Library::loaded(path.c_str());
    if (!library) return;
    const auto take = library.symbol<void (*)(ThreadNamer)>("nvspan_inject_take_thread_namer");
    if (take) take(namer);
    return;
  }
}
#else
void send_thread_namer(const ToolTable&) noexcept {}
#endif

}  // namespace nvspan::annotate
