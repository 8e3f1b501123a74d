// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The fake driver with what the real one does for tools: cuInit loads the library that
// CUDA_INJECTION64_PATH names, and calls are shown to who subscribes with fake_cupti.cpp. It is
// linked with fake_libcuda, which does the work; what is not here is not shown.

#include "hooks.hpp"

#include <dlfcn.h>

#include <cstdlib>

namespace {

Hook hook = nullptr;

template <class Function>
Function real(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

template <class Parameters, class Call>
int shown(const char* name, unsigned id, const Parameters& parameters, Call&& call) {
  if (hook) hook(Site::enter, name, id, &parameters);
  const int result = call();
  if (hook) hook(Site::exit, name, id, &parameters);
  return result;
}

}  // namespace

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

FAKE_EXPORT void fake_driver_hook(Hook chosen) { hook = chosen; }

FAKE_EXPORT int cuInit(unsigned flags) {
  static const bool loaded = [] {
    const char* path = std::getenv("CUDA_INJECTION64_PATH");
    void* library = path ? dlopen(path, RTLD_NOW) : nullptr;
    auto* entry =
        library ? reinterpret_cast<int (*)()>(dlsym(library, "InitializeInjection")) : nullptr;
    return entry && entry();
  }();
  (void)loaded;
  struct {
    unsigned flags;
  } parameters{flags};
  return shown("cuInit", 1, parameters, [&] { return real<int (*)(unsigned)>("cuInit")(flags); });
}

FAKE_EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
  struct {
    void** context;
    int device;
  } parameters{context, device};
  const int result = shown("cuDevicePrimaryCtxRetain", 2, parameters, [&] {
    return real<int (*)(void**, int)>("cuDevicePrimaryCtxRetain")(context, device);
  });
  static bool created = false;
  if (hook && !created) hook(Site::resource, nullptr, context_created, nullptr);
  created = true;
  return result;
}

FAKE_EXPORT int cuModuleLoadData(void** module, const void* image) {
  struct {
    void** module;
    const void* image;
  } parameters{module, image};
  const int result = shown("cuModuleLoadData", 3, parameters, [&] {
    return real<int (*)(void**, const void*)>("cuModuleLoadData")(module, image);
  });
  if (hook) hook(Site::resource, nullptr, module_loaded, nullptr);
  return result;
}

FAKE_EXPORT int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                               unsigned by, unsigned bz, unsigned shared, void* stream,
                               void** arguments, void** extra) {
  struct {
    void* function;
    unsigned gx, gy, gz, bx, by, bz, shared;
    void* stream;
    void **arguments, **extra;
  } parameters{function, gx, gy, gz, bx, by, bz, shared, stream, arguments, extra};
  using Launch = int (*)(void*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                         unsigned, void*, void**, void**);
  return shown("cuLaunchKernel", 4, parameters, [&] {
    return real<Launch>("cuLaunchKernel")(function, gx, gy, gz, bx, by, bz, shared, stream,
                                          arguments, extra);
  });
}

FAKE_EXPORT int cuStreamSynchronize(void* stream) {
  struct {
    void* stream;
  } parameters{stream};
  return shown("cuStreamSynchronize", 5, parameters,
               [&] { return real<int (*)(void*)>("cuStreamSynchronize")(stream); });
}

FAKE_EXPORT int cuCtxSynchronize() {
  return shown("cuCtxSynchronize", 6, 0, [&] { return real<int (*)()>("cuCtxSynchronize")(); });
}

FAKE_EXPORT int cuStreamBeginCapture_v2(void* stream, int mode) {
  struct {
    void* stream;
    int mode;
  } parameters{stream, mode};
  return shown("cuStreamBeginCapture_v2", 7, parameters,
               [&] { return real<int (*)(void*, int)>("cuStreamBeginCapture_v2")(stream, mode); });
}

FAKE_EXPORT int cuStreamEndCapture(void* stream, void** graph) {
  struct {
    void* stream;
    void** graph;
  } parameters{stream, graph};
  return shown("cuStreamEndCapture", 8, parameters,
               [&] { return real<int (*)(void*, void**)>("cuStreamEndCapture")(stream, graph); });
}

FAKE_EXPORT int cuGraphLaunch(void* executable, void* stream) {
  struct {
    void *executable, *stream;
  } parameters{executable, stream};
  return shown("cuGraphLaunch", 9, parameters,
               [&] { return real<int (*)(void*, void*)>("cuGraphLaunch")(executable, stream); });
}

FAKE_EXPORT int cuEventQuery(void* event) {
  struct {
    void* event;
  } parameters{event};
  return shown("cuEventQuery", 10, parameters,
               [&] { return real<int (*)(void*)>("cuEventQuery")(event); });
}

FAKE_EXPORT int cuEventRecord(void* event, void* stream) {
  struct {
    void *event, *stream;
  } parameters{event, stream};
  return shown("cuEventRecord", 12, parameters,
               [&] { return real<int (*)(void*, void*)>("cuEventRecord")(event, stream); });
}

FAKE_EXPORT int cuEventSynchronize(void* event) {
  struct {
    void* event;
  } parameters{event};
  return shown("cuEventSynchronize", 13, parameters,
               [&] { return real<int (*)(void*)>("cuEventSynchronize")(event); });
}

FAKE_EXPORT int cuStreamWaitEvent(void* stream, void* event, unsigned flags) {
  struct {
    void *stream, *event;
    unsigned flags;
  } parameters{stream, event, flags};
  return shown("cuStreamWaitEvent", 14, parameters, [&] {
    return real<int (*)(void*, void*, unsigned)>("cuStreamWaitEvent")(stream, event, flags);
  });
}

// The memory that FAKE_CUDA_USED and FAKE_CUDA_TOTAL say, in bytes.
FAKE_EXPORT int cuMemGetInfo_v2(std::size_t* available, std::size_t* total) {
  struct {
    std::size_t *available, *total;
  } parameters{available, total};
  return shown("cuMemGetInfo_v2", 11, parameters, [&] {
    const char* used = std::getenv("FAKE_CUDA_USED");
    const char* all = std::getenv("FAKE_CUDA_TOTAL");
    *total = all ? std::strtoull(all, nullptr, 10) : std::size_t{1} << 33;
    *available = *total - (used ? std::strtoull(used, nullptr, 10) : std::size_t{1} << 30);
    return 0;
  });
}
