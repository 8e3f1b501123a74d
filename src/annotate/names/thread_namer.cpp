// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/names/thread_namer.hpp"

#include <atomic>
#include <string>

#include "core/os/library.hpp"

namespace nvspan::annotate {

namespace {

std::atomic<ThreadNamer> thread_namer{nullptr};

}  // namespace

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
