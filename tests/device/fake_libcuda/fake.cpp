// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The process, its devices and its contexts.
#include "fake.hpp"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

namespace fake {

namespace {
thread_local std::vector<Context*> stack;
thread_local int capture_mode = 0;        // global
thread_local bool chose_context = false;  // not only pushed one: the program's own thread
constexpr int64_t epoch_ns = 1'700'000'000'000'000'000;
}  // namespace

State& state() {
  static State* const instance = [] {
    State* made = new State;  // immortal: streams' threads outlive main
    const char* count = std::getenv("FAKE_CUDA_DEVICES");
    for (int i = 0; i < (count ? std::atoi(count) : 2); ++i) {
      made->devices.push_back(std::make_unique<Device>());
      made->devices.back()->context.device = i;
      made->devices.back()->context.primary = true;
      made->devices.back()->context.alive = false;
    }
    return made;
  }();
  return *instance;
}

int64_t now() {
  return epoch_ns + std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::steady_clock::now().time_since_epoch())
                        .count();
}

Result misuse(const char* what) {
  ++state().misuses;
  std::fprintf(stderr, "fake libcuda: misuse: %s\n", what);
  return invalid_handle;
}

Result prepared_failure(const char* call) {
  Lock lock(state().mutex);
  const auto found = state().failures.find(call);
  if (found == state().failures.end()) return success;
  if (found->second.first < 0) return found->second.second;
  if (found->second.first-- > 0) return success;
  const Result result = found->second.second;
  state().failures.erase(found);
  return result;
}

Result unsafe() {
  if (capture_mode == 2) return success;
  Lock lock(state().mutex);
  Result result = success;
  for (const auto& capture : state().captures) {
    if (capture->mode == 0) {
      capture->invalid = true;
      result = capture_unsupported;
    }
  }
  return result;
}

Context* current() {
  Lock lock(state().mutex);
  return stack.empty() ? nullptr : stack.back();
}

bool has_chosen_context() { return chose_context; }

namespace {

// As the driver does, a context maps /dev/nvidia-uvm, which a forked child does not inherit: here
// the file that FAKE_CUDA_UVM names.
void map_memory_device(bool mapped) {
  static void* page = MAP_FAILED;
  static int contexts = 0;
  const char* path = std::getenv("FAKE_CUDA_UVM");
  if (path == nullptr) return;
  contexts += mapped ? 1 : -1;
  if (mapped && contexts == 1) {
    const int file = ::open(path, O_RDONLY);
    page = ::mmap(nullptr, 1, PROT_READ, MAP_SHARED, file, 0);
    ::close(file);
    ::madvise(page, 1, MADV_DONTFORK);
  } else if (contexts == 0) {
    ::munmap(page, 1);
  }
}

void destroy_contents(Context& context) {
  State& all = state();
  for (Stream* stream : context.streams) {
    all.streams.erase(stream);
    stream->end(true);
  }
  for (Event* event : context.events) all.events.erase(event);
  if (context.legacy) context.legacy.release()->end(true);
  for (auto& [thread, stream] : context.per_thread) stream.release()->end(true);
  context.streams.clear();
  context.events.clear();
  context.per_thread.clear();
}

bool usable(Context* context) { return state().contexts.count(context) != 0 && context->alive; }

}  // namespace

}  // namespace fake

using namespace fake;

// --- for tests
// ------------------------------------------------------------------------------------

FAKE_EXPORT void fake_cuda_fail(const char* call, int after, int result) {
  Lock lock(state().mutex);
  state().failures[call] = {after, result};
}

FAKE_EXPORT unsigned long long fake_cuda_misuses() { return state().misuses.load(); }

// --- the process and its devices
// ------------------------------------------------------------------

FAKE_EXPORT Result cuInit(unsigned) {
  Lock lock(state().mutex);
  state().initialised = true;
  return success;
}

FAKE_EXPORT Result cuDriverGetVersion(int* version) {
  *version = 13000;
  return success;
}

FAKE_EXPORT Result cuGetErrorName(Result, const char** name) {
  *name = "CUDA_ERROR_FAKE";
  return success;
}

FAKE_EXPORT Result cuDeviceGetCount(int* count) {
  Lock lock(state().mutex);
  if (!state().initialised) return not_initialized;
  *count = static_cast<int>(state().devices.size());
  return success;
}

FAKE_EXPORT Result cuDeviceGet(int* device, int ordinal) {
  *device = ordinal;
  return state().initialised ? success : not_initialized;
}

FAKE_EXPORT Result cuDevicePrimaryCtxGetState(int device, unsigned* flags, int* active) {
  Lock lock(state().mutex);
  if (!state().initialised) return not_initialized;
  *flags = 0;
  *active = state().devices[static_cast<size_t>(device)]->context.alive;
  return success;
}

FAKE_EXPORT Result cuDevicePrimaryCtxRetain(void** context, int device) {
  not_in_a_replay("cuDevicePrimaryCtxRetain");
  Lock lock(state().mutex);
  Device& own = *state().devices[static_cast<size_t>(device)];
  ++own.retained;
  if (!own.context.alive) {
    own.context.alive = true;
    map_memory_device(true);
    own.context.id = ++state().last_id;
    state().contexts.insert(&own.context);
  }
  *context = &own.context;
  return success;
}

FAKE_EXPORT Result cuDevicePrimaryCtxReset_v2(int device) {
  Lock lock(state().mutex);
  Device& own = *state().devices[static_cast<size_t>(device)];
  destroy_contents(own.context);
  if (own.context.alive) map_memory_device(false);
  own.context.alive = false;
  return success;
}

FAKE_EXPORT Result cuDevicePrimaryCtxRelease_v2(int device) {
  Lock lock(state().mutex);
  Device& own = *state().devices[static_cast<size_t>(device)];
  if (own.retained <= 0) return invalid_context;
  if (--own.retained == 0) return cuDevicePrimaryCtxReset_v2(device);
  return success;
}

// --- contexts
// -------------------------------------------------------------------------------------

FAKE_EXPORT Result cuCtxCreate_v2(void** context, unsigned, int device) {
  Lock lock(state().mutex);
  Context* made = new Context;
  made->device = device;
  made->id = ++state().last_id;
  state().contexts.insert(made);
  map_memory_device(true);
  stack.push_back(made);
  chose_context = true;
  *context = made;
  return success;
}

FAKE_EXPORT Result cuCtxDestroy_v2(void* context) {
  Lock lock(state().mutex);
  Context* own = static_cast<Context*>(context);
  if (!usable(own)) return invalid_context;
  destroy_contents(*own);
  map_memory_device(false);
  own->alive = false;
  if (!stack.empty() && stack.back() == own) stack.pop_back();
  return success;
}

FAKE_EXPORT Result cuCtxGetCurrent(void** context) {
  if (!state().initialised) return not_initialized;
  *context = current();
  return success;
}

FAKE_EXPORT Result cuCtxSetCurrent(void* context) {
  if (!stack.empty()) stack.pop_back();
  if (context) stack.push_back(static_cast<Context*>(context));
  chose_context = chose_context || context;
  return success;
}

FAKE_EXPORT Result cuCtxPushCurrent_v2(void* context) {
  FAKE_CHECK(cuCtxPushCurrent);
  Lock lock(state().mutex);  // a destroyed context is taken without a word, as by the driver
  if (!state().contexts.count(static_cast<Context*>(context))) return invalid_context;
  stack.push_back(static_cast<Context*>(context));
  return success;
}

FAKE_EXPORT Result cuCtxPopCurrent_v2(void** context) {
  if (stack.empty()) return invalid_context;
  *context = stack.back();
  stack.pop_back();
  return success;
}

FAKE_EXPORT Result cuCtxGetDevice(int* device) {
  Context* context = current();
  if (!context) return invalid_context;
  *device = context->device;
  return success;
}

FAKE_EXPORT Result cuCtxGetId(void* context, unsigned long long* id) {
  only_in_a_replay("cuCtxGetId");
  Lock lock(state().mutex);
  if (!usable(static_cast<Context*>(context))) return context_is_destroyed;
  *id = static_cast<Context*>(context)->id;
  return success;
}

FAKE_EXPORT Result cuCtxGetStreamPriorityRange(int* lowest, int* highest) {
  *lowest = 0;
  *highest = -5;
  return success;
}

FAKE_EXPORT Result cuCtxSynchronize() {
  Context* context = current();
  if (!context) return invalid_context;
  std::vector<Stream*> streams;
  {
    Lock lock(state().mutex);
    streams.assign(context->streams.begin(), context->streams.end());
    if (context->legacy) streams.push_back(context->legacy.get());
    for (auto& [thread, stream] : context->per_thread) streams.push_back(stream.get());
  }
  for (Stream* stream : streams) stream->synchronize();
  return success;
}

FAKE_EXPORT Result cuThreadExchangeStreamCaptureMode(int* mode) {
  not_in_a_replay("cuThreadExchangeStreamCaptureMode");
  std::swap(*mode, capture_mode);
  return success;
}
