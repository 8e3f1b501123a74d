// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// The CUDA driver's functions, found at run time. Nothing links to the driver, needs its headers or
// initialises it: a process that has no CUDA, or has not begun to use it, sees no difference.

#include <cstddef>
#include <cstdint>
#include <string>

#include "annotate/tool/attachment.hpp"

namespace nvspan::cuda {

using Result = int;
using DeviceOrdinal = int;
struct ContextStruct;
struct StreamStruct;
struct EventStruct;
struct ModuleStruct;
struct FunctionStruct;
struct GraphStruct;
struct GraphNodeStruct;
struct UserObjectStruct;
using ContextHandle = ContextStruct*;
using StreamHandle = StreamStruct*;
using EventHandle = EventStruct*;
using ModuleHandle = ModuleStruct*;
using FunctionHandle = FunctionStruct*;
using GraphHandle = GraphStruct*;
using GraphNode = GraphNodeStruct*;
using UserObject = UserObjectStruct*;
using HostFunction = void (*)(void*);
using DevicePointer = unsigned long long;

constexpr Result success = 0;
constexpr Result error_context_is_destroyed = 709;
constexpr Result error_invalid_handle = 400;
constexpr Result error_invalid_context = 201;
constexpr Result error_not_ready = 600;
constexpr Result error_not_supported = 801;

constexpr unsigned stream_non_blocking = 1;
constexpr unsigned event_disable_timing = 2;
constexpr unsigned host_alloc_portable = 1;
constexpr unsigned host_register_portable = 1;
constexpr unsigned host_register_device_map = 2;
constexpr int capture_mode_relaxed = 2;
constexpr int capture_none = 0;
constexpr int capture_active = 1;
constexpr unsigned capture_set_dependencies = 1;
constexpr unsigned user_object_no_sync = 1;
constexpr unsigned graph_user_object_move = 1;

// The three handles that stand for a default stream.
inline bool is_default_stream(StreamHandle stream) noexcept {
  return reinterpret_cast<uintptr_t>(stream) <= 2;
}
inline bool is_per_thread_stream(StreamHandle stream) noexcept {
  return reinterpret_cast<uintptr_t>(stream) == 2;
}

struct GraphEdgeData {
  unsigned char from_port, to_port, type, reserved[5];
};

struct HostNodeParams {
  HostFunction function;
  void* data;
};

struct KernelNodeParams {
  FunctionHandle function;
  unsigned grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes;
  void** arguments;
  void** extra;
};

// Members are called as the driver calls them. Those under "newer" may be null.
struct Driver {
  Result (*cuDeviceGetCount)(int*);
  Result (*cuCtxGetCurrent)(ContextHandle*);
  Result (*cuCtxPushCurrent_v2)(ContextHandle);
  Result (*cuCtxPopCurrent_v2)(ContextHandle*);
  Result (*cuCtxGetDevice)(DeviceOrdinal*);
  Result (*cuCtxGetStreamPriorityRange)(int*, int*);
  Result (*cuDevicePrimaryCtxGetState)(DeviceOrdinal, unsigned*, int*);
  Result (*cuDevicePrimaryCtxRetain)(ContextHandle*, DeviceOrdinal);
  Result (*cuDevicePrimaryCtxRelease_v2)(DeviceOrdinal);
  Result (*cuStreamGetCtx)(StreamHandle, ContextHandle*);
  Result (*cuStreamCreateWithPriority)(StreamHandle*, unsigned, int);
  Result (*cuStreamQuery)(StreamHandle);
  Result (*cuStreamSynchronize)(StreamHandle);
  Result (*cuStreamWaitEvent)(StreamHandle, EventHandle, unsigned);
  Result (*cuThreadExchangeStreamCaptureMode)(int*);
  Result (*cuEventCreate)(EventHandle*, unsigned);
  Result (*cuEventRecord)(EventHandle, StreamHandle);
  Result (*cuEventQuery)(EventHandle);
  Result (*cuEventElapsedTime)(float*, EventHandle, EventHandle);
  Result (*cuLaunchHostFunc)(StreamHandle, HostFunction, void*);
  Result (*cuLaunchKernel)(FunctionHandle, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, unsigned, StreamHandle, void**, void**);
  Result (*cuModuleLoadData)(ModuleHandle*, const void*);
  Result (*cuModuleGetFunction)(FunctionHandle*, ModuleHandle, const char*);
  Result (*cuMemHostAlloc)(void**, size_t, unsigned);
  Result (*cuMemAlloc_v2)(DevicePointer*, size_t);
  Result (*cuMemsetD8_v2)(DevicePointer, unsigned char, size_t);
  // newer
  Result (*cuCtxGetId)(ContextHandle, unsigned long long*);
  Result (*cuStreamGetId)(StreamHandle, unsigned long long*);
  Result (*cuStreamIsCapturing)(StreamHandle, int*);
  Result (*cuStreamGetCaptureInfo_v2)(StreamHandle, int*, unsigned long long*, GraphHandle*,
                                      const GraphNode**, size_t*);
  Result (*cuStreamGetCaptureInfo_v3)(StreamHandle, int*, unsigned long long*, GraphHandle*,
                                      const GraphNode**, const GraphEdgeData**, size_t*);
  Result (*cuStreamUpdateCaptureDependencies)(StreamHandle, GraphNode*, size_t, unsigned);
  Result (*cuGraphAddHostNode)(GraphNode*, GraphHandle, const GraphNode*, size_t,
                               const HostNodeParams*);
  Result (*cuGraphAddKernelNode)(GraphNode*, GraphHandle, const GraphNode*, size_t,
                                 const KernelNodeParams*);
  Result (*cuUserObjectCreate)(UserObject*, void*, HostFunction, unsigned, unsigned);
  Result (*cuUserObjectRelease)(UserObject, unsigned);
  Result (*cuGraphRetainUserObject)(GraphHandle, UserObject, unsigned, unsigned);
  Result (*cuMemHostRegister_v2)(void*, size_t, unsigned);
  Result (*cuMemHostGetDevicePointer_v2)(DevicePointer*, void*, unsigned);
};

// The driver, or null with the reason in driver_problem(). Looks for it at the first call: the
// library that the process has loaded already, else by name, else (first of all) what the
// environment variable NVSPAN_LIBCUDA names. A library once found is kept.
const Driver* driver() noexcept;

// Why driver() is null, for people; empty if it is not.
std::string driver_problem();

// The library that the functions come from.
std::string driver_library();

// Whether the process has initialised CUDA. Never does so itself.
bool driver_initialised(const Driver& api) noexcept;

// A context as it was: its handle may come again for another one, its id does not.
struct ContextIdentity {
  ContextHandle handle = nullptr;
  unsigned long long id = 0;
};

// The context's id. False if it is destroyed. Where the driver knows no ids the handle stands for
// it.
bool context_id(const Driver& api, ContextHandle context, unsigned long long& id) noexcept;

// Whether the context is what it was. To be asked before anything in it is touched: the driver
// takes a destroyed context as current without a word, and crashes when one of its streams is
// named.
bool still_there(const Driver& api, const ContextIdentity& context) noexcept;

// Whether the process has loaded the driver's library.
bool driver_resident() noexcept;

// Lets the calling thread make calls that another thread's stream capture would forbid. Does
// nothing under Nsight Compute, whose range replay refuses the switch itself.
class RelaxedCapture {
 public:
  explicit RelaxedCapture(const Driver& api) noexcept : api_(api) {
    exchanged_ = !annotate::tool_replays_ranges() &&
                 api_.cuThreadExchangeStreamCaptureMode(&mode_) == success;
  }
  ~RelaxedCapture() {
    if (exchanged_) api_.cuThreadExchangeStreamCaptureMode(&mode_);
  }
  RelaxedCapture(const RelaxedCapture&) = delete;
  RelaxedCapture& operator=(const RelaxedCapture&) = delete;

 private:
  const Driver& api_;
  int mode_ = capture_mode_relaxed;
  bool exchanged_ = false;
};

// A context made current for a scope, if it is not.
class ContextScope {
 public:
  ContextScope() = default;
  ~ContextScope() {
    if (pushed_) {
      ContextHandle popped;
      api_->cuCtxPopCurrent_v2(&popped);
    }
  }
  bool push(const Driver& api, ContextHandle context) noexcept {
    api_ = &api;
    pushed_ = api.cuCtxPushCurrent_v2(context) == success;
    return pushed_;
  }
  ContextScope(const ContextScope&) = delete;
  ContextScope& operator=(const ContextScope&) = delete;

 private:
  const Driver* api_ = nullptr;
  bool pushed_ = false;
};

// The same memory, as the CPU (`host`) and as kernels (`device`) address it.
struct PinnedMemory {
  void* host = nullptr;
  DevicePointer device = 0;
};

// Zeroed memory for the context that is current. Where the driver allows, it is memory of the
// process that the context maps: it stays readable when the context is destroyed while a
// thread reads it, and is never freed. False if the driver refuses.
bool allocate_pinned(const Driver& api, size_t bytes, PinnedMemory& pinned) noexcept;

}  // namespace nvspan::cuda
