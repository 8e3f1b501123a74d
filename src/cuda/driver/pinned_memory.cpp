// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver/pinned_memory.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace nvspan::cuda {

namespace {

constexpr size_t page = 4096;

bool map_own_memory(const Driver& api, size_t bytes, PinnedMemory& pinned) noexcept {
  if (!api.cuMemHostRegister_v2 || !api.cuMemHostGetDevicePointer_v2) return false;
  const size_t whole = (bytes + page - 1) / page * page;
  void* memory = ::operator new(whole, std::align_val_t(page), std::nothrow);
  if (!memory) return false;
  std::memset(memory, 0, whole);
  constexpr unsigned flags = host_register_portable | host_register_device_map;
  if (api.cuMemHostRegister_v2(memory, whole, flags) != success) {
    ::operator delete(memory, std::align_val_t(page));
    return false;
  }
  // Registered from here on, and so never given back.
  if (api.cuMemHostGetDevicePointer_v2(&pinned.device, memory, 0) != success) return false;
  pinned.host = memory;
  return true;
}

}  // namespace

bool allocate_pinned(const Driver& api, size_t bytes, PinnedMemory& pinned) noexcept {
  const RelaxedCapture relaxed(api);
  if (map_own_memory(api, bytes, pinned)) return true;
  if (api.cuMemHostAlloc(&pinned.host, bytes, host_alloc_portable) != success) return false;
  std::memset(pinned.host, 0, bytes);
  pinned.device = reinterpret_cast<uintptr_t>(pinned.host);
  return true;
}

}  // namespace nvspan::cuda
