// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/tool/device_states.hpp"

#include <atomic>
#include <string>

#include "core/os/library.hpp"

namespace nvspan::annotate {

namespace {

using Open = uint64_t (*)(const char*, const char*, int, uint64_t, uint32_t, const uint32_t*);
using Tell = void (*)(uint64_t, unsigned);

// Of the recorder, which is never unloaded: what is found once stays.
std::atomic<Open> open_function{nullptr};
std::atomic<Tell> tell_function{nullptr};

#if NVSPAN_HAVE_NVTX
bool find_functions(const ToolTable& tool) noexcept {
  for (unsigned id = 1; id < NVTX_CBID_CORE2_SIZE; ++id) {
    const auto function = tool.core2_slot<void (*)()>(id);
    if (!function) continue;
    const std::string path = core::library_of(function);
    const core::Library library = core::Library::loaded(path.c_str());
    if (!library) return false;
    const auto open = library.symbol<Open>("nvspan_inject_open_device");
    const auto tell = library.symbol<Tell>("nvspan_inject_device_state");
    if (!open || !tell) return false;
    tell_function.store(tell);
    open_function.store(open, std::memory_order_release);
    return true;
  }
  return false;
}
#else
bool find_functions(const ToolTable&) noexcept { return false; }
#endif

}  // namespace

uint64_t open_device(const ToolTable& tool, const char* domain, const char* name, int device,
                     uint64_t stream, uint32_t thread, const GroupPlace& of) noexcept {
  // Another tool is not asked again for each range.
  static std::atomic<uint64_t> asked{0};
  const uint64_t epoch = tool.epoch.load(std::memory_order_acquire);
  if (asked.exchange(epoch) != epoch && !open_function.load()) find_functions(tool);
  const Open open = open_function.load(std::memory_order_acquire);
  const uint32_t collective[] = {of.number, of.rank, of.ranks};
  return open ? open(domain, name, device, stream, thread, collective) : 0;
}

void tell_device_state(uint64_t range, DeviceState state) noexcept {
  const Tell tell = tell_function.load();
  if (tell) tell(range, static_cast<unsigned>(state));
}

}  // namespace nvspan::annotate
