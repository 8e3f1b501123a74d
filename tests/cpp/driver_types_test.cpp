// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
//
// What src/cuda declares of the CUDA driver against NVIDIA's own headers: a function of the table
// has the type of the symbol that is looked up, constants their values, structs their layout.
// Everything is checked by the compiler, where it finds those headers; the program does nothing.

#if __has_include(<cuda.h>) && __has_include(<cudaTypedefs.h>)

#include <cuda.h>
#include <cudaTypedefs.h>

#include <cstddef>
#include <type_traits>

#include "cuda/driver/driver.hpp"

namespace {

using namespace nvspan::cuda;

// Which of NVIDIA's types one of ours stands for.
template <class Ours, class Theirs>
struct StandsFor : std::is_same<Ours, Theirs> {};
template <>
struct StandsFor<ContextStruct, CUctx_st> : std::true_type {};
template <>
struct StandsFor<StreamStruct, CUstream_st> : std::true_type {};
template <>
struct StandsFor<EventStruct, CUevent_st> : std::true_type {};
template <>
struct StandsFor<ModuleStruct, CUmod_st> : std::true_type {};
template <>
struct StandsFor<FunctionStruct, CUfunc_st> : std::true_type {};
template <>
struct StandsFor<GraphStruct, CUgraph_st> : std::true_type {};
template <>
struct StandsFor<GraphNodeStruct, CUgraphNode_st> : std::true_type {};
template <>
struct StandsFor<UserObjectStruct, CUuserObject_st> : std::true_type {};
template <>
struct StandsFor<GraphEdgeData, CUgraphEdgeData> : std::true_type {};
template <>
struct StandsFor<HostNodeParams, CUDA_HOST_NODE_PARAMS_v1> : std::true_type {};
template <>
struct StandsFor<KernelNodeParams, CUDA_KERNEL_NODE_PARAMS_v1> : std::true_type {};

// An enum of theirs is an int of ours, and cuuint64_t any 64 bits.
template <class Ours, class Theirs>
constexpr bool same_number() {
  if constexpr (std::is_enum_v<Theirs>) {
    return std::is_same_v<Ours, int> && sizeof(Ours) == sizeof(Theirs);
  } else if constexpr (std::is_integral_v<Ours> && std::is_integral_v<Theirs>) {
    return sizeof(Ours) == sizeof(Theirs) && std::is_signed_v<Ours> == std::is_signed_v<Theirs>;
  } else {
    return false;
  }
}

template <class Ours, class Theirs>
struct SameType {
  static constexpr bool value = StandsFor<Ours, Theirs>::value || same_number<Ours, Theirs>();
};
template <class Ours, class Theirs>
struct SameType<const Ours, const Theirs> : SameType<Ours, Theirs> {};
template <class Ours, class Theirs>
struct SameType<Ours*, Theirs*> : SameType<Ours, Theirs> {};
template <class OurResult, class... Ours, class TheirResult, class... Theirs>
struct SameType<OurResult(Ours...), TheirResult(Theirs...)> {
  static constexpr bool value = [] {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs)) {
      return SameType<OurResult, TheirResult>::value && (SameType<Ours, Theirs>::value && ...);
    } else {
      return false;
    }
  }();
};

static_assert(!SameType<int (*)(EventHandle), CUresult (*)(CUstream)>::value);
static_assert(!SameType<int (*)(unsigned*), CUresult (*)(int*)>::value);
static_assert(!SameType<int (*)(const void*), CUresult (*)(void*)>::value);
static_assert(!SameType<int (*)(int), CUresult (*)(int, int)>::value);

constexpr std::size_t checked_before = __COUNTER__;
#define SAME(slot, theirs)                                             \
  static_assert(SameType<decltype(Driver::slot), PFN_##theirs>::value, \
                #slot " is not declared as the driver has it");        \
  static_assert(__COUNTER__ > 0)

// In the order of the table. A symbol without a suffix is the function's first version.
SAME(cuDeviceGetCount, cuDeviceGetCount_v2000);
SAME(cuCtxGetCurrent, cuCtxGetCurrent_v4000);
SAME(cuCtxPushCurrent_v2, cuCtxPushCurrent_v4000);
SAME(cuCtxPopCurrent_v2, cuCtxPopCurrent_v4000);
SAME(cuCtxGetDevice, cuCtxGetDevice_v2000);
SAME(cuCtxGetStreamPriorityRange, cuCtxGetStreamPriorityRange_v5050);
SAME(cuDevicePrimaryCtxGetState, cuDevicePrimaryCtxGetState_v7000);
SAME(cuDevicePrimaryCtxRetain, cuDevicePrimaryCtxRetain_v7000);
SAME(cuDevicePrimaryCtxRelease_v2, cuDevicePrimaryCtxRelease_v11000);
SAME(cuStreamGetCtx, cuStreamGetCtx_v9020);
SAME(cuStreamCreateWithPriority, cuStreamCreateWithPriority_v5050);
SAME(cuStreamQuery, cuStreamQuery_v2000);
SAME(cuStreamSynchronize, cuStreamSynchronize_v2000);
SAME(cuStreamWaitEvent, cuStreamWaitEvent_v3020);
SAME(cuThreadExchangeStreamCaptureMode, cuThreadExchangeStreamCaptureMode_v10010);
SAME(cuEventCreate, cuEventCreate_v2000);
SAME(cuEventRecord, cuEventRecord_v2000);
SAME(cuEventQuery, cuEventQuery_v2000);
SAME(cuEventElapsedTime, cuEventElapsedTime_v2000);
SAME(cuLaunchHostFunc, cuLaunchHostFunc_v10000);
SAME(cuLaunchKernel, cuLaunchKernel_v4000);
SAME(cuModuleLoadData, cuModuleLoadData_v2000);
SAME(cuModuleGetFunction, cuModuleGetFunction_v2000);
SAME(cuMemHostAlloc, cuMemHostAlloc_v2020);
SAME(cuMemAlloc_v2, cuMemAlloc_v3020);
SAME(cuMemsetD8_v2, cuMemsetD8_v3020);
SAME(cuCtxGetId, cuCtxGetId_v12000);
SAME(cuStreamGetId, cuStreamGetId_v12000);
SAME(cuStreamIsCapturing, cuStreamIsCapturing_v10000);
SAME(cuStreamGetCaptureInfo_v2, cuStreamGetCaptureInfo_v11030);
SAME(cuStreamGetCaptureInfo_v3, cuStreamGetCaptureInfo_v12030);
SAME(cuStreamUpdateCaptureDependencies, cuStreamUpdateCaptureDependencies_v11030);
SAME(cuGraphAddHostNode, cuGraphAddHostNode_v10000);
SAME(cuGraphAddKernelNode, cuGraphAddKernelNode_v10000);
SAME(cuUserObjectCreate, cuUserObjectCreate_v11030);
SAME(cuUserObjectRelease, cuUserObjectRelease_v11030);
SAME(cuGraphRetainUserObject, cuGraphRetainUserObject_v11030);
SAME(cuMemHostRegister_v2, cuMemHostRegister_v6050);
SAME(cuMemHostGetDevicePointer_v2, cuMemHostGetDevicePointer_v3020);

static_assert(__COUNTER__ - checked_before - 1 == sizeof(Driver) / sizeof(void (*)()),
              "a function of the table is not checked");

#define VALUE(ours, theirs) static_assert(static_cast<long long>(ours) == (theirs), #ours)
VALUE(success, CUDA_SUCCESS);
VALUE(error_context_is_destroyed, CUDA_ERROR_CONTEXT_IS_DESTROYED);
VALUE(error_invalid_handle, CUDA_ERROR_INVALID_HANDLE);
VALUE(error_invalid_context, CUDA_ERROR_INVALID_CONTEXT);
VALUE(error_not_ready, CUDA_ERROR_NOT_READY);
VALUE(error_not_supported, CUDA_ERROR_NOT_SUPPORTED);
VALUE(stream_non_blocking, CU_STREAM_NON_BLOCKING);
VALUE(event_disable_timing, CU_EVENT_DISABLE_TIMING);
VALUE(host_alloc_portable, CU_MEMHOSTALLOC_PORTABLE);
VALUE(host_register_portable, CU_MEMHOSTREGISTER_PORTABLE);
VALUE(host_register_device_map, CU_MEMHOSTREGISTER_DEVICEMAP);
VALUE(capture_mode_relaxed, CU_STREAM_CAPTURE_MODE_RELAXED);
VALUE(capture_none, CU_STREAM_CAPTURE_STATUS_NONE);
VALUE(capture_active, CU_STREAM_CAPTURE_STATUS_ACTIVE);
VALUE(capture_set_dependencies, CU_STREAM_SET_CAPTURE_DEPENDENCIES);
VALUE(user_object_no_sync, CU_USER_OBJECT_NO_DESTRUCTOR_SYNC);
VALUE(graph_user_object_move, CU_GRAPH_USER_OBJECT_MOVE);

#define LAYOUT(ours, theirs) \
  static_assert(sizeof(ours) == sizeof(theirs) && alignof(ours) == alignof(theirs), #ours)
#define MEMBER(ours, member, theirs, name)                                           \
  static_assert(offsetof(ours, member) == offsetof(theirs, name) &&                  \
                    SameType<decltype(ours::member), decltype(theirs::name)>::value, \
                #ours "::" #member)
LAYOUT(GraphEdgeData, CUgraphEdgeData);
MEMBER(GraphEdgeData, from_port, CUgraphEdgeData, from_port);
MEMBER(GraphEdgeData, to_port, CUgraphEdgeData, to_port);
MEMBER(GraphEdgeData, type, CUgraphEdgeData, type);
LAYOUT(HostNodeParams, CUDA_HOST_NODE_PARAMS_v1);
MEMBER(HostNodeParams, function, CUDA_HOST_NODE_PARAMS_v1, fn);
MEMBER(HostNodeParams, data, CUDA_HOST_NODE_PARAMS_v1, userData);
LAYOUT(KernelNodeParams, CUDA_KERNEL_NODE_PARAMS_v1);
MEMBER(KernelNodeParams, function, CUDA_KERNEL_NODE_PARAMS_v1, func);
MEMBER(KernelNodeParams, grid_x, CUDA_KERNEL_NODE_PARAMS_v1, gridDimX);
MEMBER(KernelNodeParams, grid_y, CUDA_KERNEL_NODE_PARAMS_v1, gridDimY);
MEMBER(KernelNodeParams, grid_z, CUDA_KERNEL_NODE_PARAMS_v1, gridDimZ);
MEMBER(KernelNodeParams, block_x, CUDA_KERNEL_NODE_PARAMS_v1, blockDimX);
MEMBER(KernelNodeParams, block_y, CUDA_KERNEL_NODE_PARAMS_v1, blockDimY);
MEMBER(KernelNodeParams, block_z, CUDA_KERNEL_NODE_PARAMS_v1, blockDimZ);
MEMBER(KernelNodeParams, shared_bytes, CUDA_KERNEL_NODE_PARAMS_v1, sharedMemBytes);
MEMBER(KernelNodeParams, arguments, CUDA_KERNEL_NODE_PARAMS_v1, kernelParams);
MEMBER(KernelNodeParams, extra, CUDA_KERNEL_NODE_PARAMS_v1, extra);

}  // namespace

#endif

int main() { return 0; }
