// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "cuda/driver/driver.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <iterator>
#include <mutex>
#include <new>

#include "core/os/library.hpp"

namespace nvspan::cuda {

namespace {

#if defined(_WIN32)
constexpr const char* library_names[] = {"nvcuda.dll"};
#else
constexpr const char* library_names[] = {"libcuda.so.1", "libcuda.so"};
#endif

struct Loaded {
  Driver api{};
  bool usable = false;
  std::string problem;
  std::string library;
};

template <class Function>
void find(const core::Library& library, Function& slot, const char* name, std::string& missing) {
  slot = library.symbol<Function>(name);
  if (slot == nullptr && missing.empty()) missing = name;
}

void load_functions(const core::Library& library, Loaded& loaded) {
  Driver& api = loaded.api;
  std::string missing;
  std::string ignored;
#define NVSPAN_FIND(name) find(library, api.name, #name, missing)
#define NVSPAN_FIND_NEWER(name) find(library, api.name, #name, ignored)
  NVSPAN_FIND(cuDeviceGetCount);
  NVSPAN_FIND(cuCtxGetCurrent);
  NVSPAN_FIND(cuCtxPushCurrent_v2);
  NVSPAN_FIND(cuCtxPopCurrent_v2);
  NVSPAN_FIND(cuCtxGetDevice);
  NVSPAN_FIND(cuCtxGetStreamPriorityRange);
  NVSPAN_FIND(cuDevicePrimaryCtxGetState);
  NVSPAN_FIND(cuDevicePrimaryCtxRetain);
  NVSPAN_FIND(cuDevicePrimaryCtxRelease_v2);
  NVSPAN_FIND(cuStreamGetCtx);
  NVSPAN_FIND(cuStreamCreateWithPriority);
  NVSPAN_FIND(cuStreamQuery);
  NVSPAN_FIND(cuStreamSynchronize);
  NVSPAN_FIND(cuStreamWaitEvent);
  NVSPAN_FIND(cuThreadExchangeStreamCaptureMode);
  NVSPAN_FIND(cuEventCreate);
  NVSPAN_FIND(cuEventRecord);
  NVSPAN_FIND(cuEventQuery);
  NVSPAN_FIND(cuEventElapsedTime);
  NVSPAN_FIND(cuLaunchHostFunc);
  NVSPAN_FIND(cuLaunchKernel);
  NVSPAN_FIND(cuModuleLoadData);
  NVSPAN_FIND(cuModuleGetFunction);
  NVSPAN_FIND(cuMemHostAlloc);
  NVSPAN_FIND(cuMemAlloc_v2);
  NVSPAN_FIND(cuMemsetD8_v2);
  NVSPAN_FIND_NEWER(cuCtxGetId);
  NVSPAN_FIND_NEWER(cuStreamGetId);
  NVSPAN_FIND_NEWER(cuStreamIsCapturing);
  NVSPAN_FIND_NEWER(cuStreamGetCaptureInfo_v2);
  NVSPAN_FIND_NEWER(cuStreamGetCaptureInfo_v3);
  NVSPAN_FIND_NEWER(cuStreamUpdateCaptureDependencies);
  NVSPAN_FIND_NEWER(cuGraphAddHostNode);
  NVSPAN_FIND_NEWER(cuGraphAddKernelNode);
  NVSPAN_FIND_NEWER(cuUserObjectCreate);
  NVSPAN_FIND_NEWER(cuUserObjectRelease);
  NVSPAN_FIND_NEWER(cuGraphRetainUserObject);
  NVSPAN_FIND_NEWER(cuMemHostRegister_v2);
  NVSPAN_FIND_NEWER(cuMemHostGetDevicePointer_v2);
#undef NVSPAN_FIND
#undef NVSPAN_FIND_NEWER
  if (missing.empty()) {
    loaded.usable = true;
    loaded.library = core::library_of(reinterpret_cast<void (*)()>(api.cuCtxGetCurrent));
  } else {
    loaded.problem = "the CUDA driver library is too old: it has no " + missing;
  }
}

void load(Loaded& loaded) {
  std::string error;
  if (const char* chosen = std::getenv("NVSPAN_LIBCUDA"); chosen && *chosen) {
    if (const core::Library library = core::Library::open(chosen, error))
      return load_functions(library, loaded);
    loaded.problem = "NVSPAN_LIBCUDA: " + error;
    return;
  }
  for (const bool loaded_already : {true, false}) {
    for (const char* name : library_names) {
      if (loaded_already && !core::Library::resident(name)) continue;
      if (const core::Library library = core::Library::open(name, error)) {
        return load_functions(library, loaded);
      }
    }
  }
  loaded.problem = "no CUDA driver library: " + error;
}

const Loaded& loaded_driver() {
  static const Loaded* const instance = [] {
    Loaded* driver = new Loaded;  // immortal: used by threads that outlive the module
    load(*driver);
    return driver;
  }();
  return *instance;
}

}  // namespace

bool driver_resident() noexcept {
  if (const char* chosen = std::getenv("NVSPAN_LIBCUDA"); chosen && *chosen)
    return core::Library::resident(chosen);
  return std::any_of(std::begin(library_names), std::end(library_names), core::Library::resident);
}

const Driver* driver() noexcept {
  const Loaded& loaded = loaded_driver();
  return loaded.usable ? &loaded.api : nullptr;
}

std::string driver_problem() { return loaded_driver().problem; }

std::string driver_library() { return loaded_driver().library; }

bool driver_initialised(const Driver& api) noexcept {
  int count = 0;
  return api.cuDeviceGetCount(&count) == success && count > 0;
}

bool context_id(const Driver& api, ContextHandle context, unsigned long long& id) noexcept {
  if (api.cuCtxGetId) return api.cuCtxGetId(context, &id) == success;
  id = reinterpret_cast<uintptr_t>(context);
  return true;
}

bool still_there(const Driver& api, const ContextIdentity& context) noexcept {
  unsigned long long id = 0;
  return context_id(api, context.handle, id) && id == context.id;
}

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
