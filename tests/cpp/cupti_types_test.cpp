// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
//
// What src/cupti/abi.hpp declares of CUPTI, and the numbers of src/cupti/launch_calls.cpp, against
// NVIDIA's own headers. Everything is checked by the compiler; the program does nothing.

#if __has_include(<cupti_activity.h>)

#include <cuda.h>
#include <cupti.h>
#include <cupti_activity.h>
#include <cupti_callbacks.h>
#include <cupti_result.h>

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "cupti/abi.hpp"
#include "cupti/launch_calls.cpp"

namespace {

using namespace nvspan::cupti;

static_assert(cupti_success == CUPTI_SUCCESS);
static_assert(cupti_max_limit_reached == CUPTI_ERROR_MAX_LIMIT_REACHED);
static_assert(cupti_insufficient_privileges == CUPTI_ERROR_INSUFFICIENT_PRIVILEGES);
static_assert(cupti_multiple_subscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(static_cast<int>(CuptiDomain::driver) == CUPTI_CB_DOMAIN_DRIVER_API);
static_assert(static_cast<int>(CuptiDomain::runtime) == CUPTI_CB_DOMAIN_RUNTIME_API);
static_assert(static_cast<int>(CuptiSite::enter) == CUPTI_API_ENTER);
static_assert(static_cast<int>(CuptiSite::exit) == CUPTI_API_EXIT);
static_assert(static_cast<int>(ActivityKind::copy) == CUPTI_ACTIVITY_KIND_MEMCPY);
static_assert(static_cast<int>(ActivityKind::set) == CUPTI_ACTIVITY_KIND_MEMSET);
static_assert(static_cast<int>(ActivityKind::kernel) == CUPTI_ACTIVITY_KIND_KERNEL);
static_assert(static_cast<int>(ActivityKind::concurrent_kernel) ==
              CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
static_assert(static_cast<int>(ActivityKind::peer_copy) == CUPTI_ACTIVITY_KIND_MEMCPY2);
static_assert(static_cast<int>(ActivityKind::device) == CUPTI_ACTIVITY_KIND_DEVICE);
static_assert(static_cast<int>(ActivityKind::memory) == CUPTI_ACTIVITY_KIND_MEMORY2);
static_assert(static_cast<int>(MemoryOperation::allocation) ==
              CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_ALLOCATION);
static_assert(static_cast<int>(MemoryOperation::release) ==
              CUPTI_ACTIVITY_MEMORY_OPERATION_TYPE_RELEASE);
static_assert(static_cast<int>(ActivityKind::graph) == CUPTI_ACTIVITY_KIND_GRAPH_TRACE);
static_assert(flush_forced == CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);

static_assert(static_cast<int>(CuptiDomain::resource) == CUPTI_CB_DOMAIN_RESOURCE);
static_assert(graph_node_created == CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED);
static_assert(graph_node_destroyed == CUPTI_CBID_RESOURCE_GRAPHNODE_DESTROY_STARTING);
static_assert(graph_node_cloned == CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED);

static_assert(sizeof(CuptiCall) == sizeof(CUpti_CallbackData));
static_assert(sizeof(CuptiSite) == sizeof(CUpti_ApiCallbackSite));
static_assert(sizeof(CuptiDomain) == sizeof(CUpti_CallbackDomain));
static_assert(sizeof(ActivityKind) == sizeof(CUpti_ActivityKind));

#define SAME(ours, our_field, theirs, their_field)                           \
  static_assert(offsetof(ours, our_field) == offsetof(theirs, their_field)); \
  static_assert(sizeof(ours::our_field) == sizeof(theirs::their_field))

SAME(CuptiCall, site, CUpti_CallbackData, callbackSite);
SAME(CuptiCall, function_name, CUpti_CallbackData, functionName);
SAME(CuptiCall, parameters, CUpti_CallbackData, functionParams);
SAME(CuptiCall, symbol_name, CUpti_CallbackData, symbolName);
SAME(CuptiCall, correlation_id, CUpti_CallbackData, correlationId);
static_assert(sizeof(CuptiResource) == sizeof(CUpti_ResourceData));
SAME(CuptiResource, descriptor, CUpti_ResourceData, resourceDescriptor);
static_assert(sizeof(CuptiGraph) == sizeof(CUpti_GraphData));
SAME(CuptiGraph, node, CUpti_GraphData, node);
SAME(CuptiGraph, original_node, CUpti_GraphData, originalNode);

#define SAME_KERNEL(theirs)                                                 \
  SAME(KernelRecord, kind, theirs, kind);                                   \
  SAME(KernelRecord, registers_per_thread, theirs, registersPerThread);     \
  SAME(KernelRecord, start, theirs, start);                                 \
  SAME(KernelRecord, end, theirs, end);                                     \
  SAME(KernelRecord, device, theirs, deviceId);                             \
  SAME(KernelRecord, context, theirs, contextId);                           \
  SAME(KernelRecord, stream, theirs, streamId);                             \
  static_assert(offsetof(KernelRecord, grid) == offsetof(theirs, gridX));   \
  static_assert(offsetof(KernelRecord, block) == offsetof(theirs, blockX)); \
  SAME(KernelRecord, static_shared_memory, theirs, staticSharedMemory);     \
  SAME(KernelRecord, dynamic_shared_memory, theirs, dynamicSharedMemory);   \
  SAME(KernelRecord, correlation, theirs, correlationId);                   \
  SAME(KernelRecord, name, theirs, name);                                   \
  SAME(KernelRecord, graph_node, theirs, graphNodeId)
SAME_KERNEL(CUpti_ActivityKernel5);
SAME_KERNEL(CUpti_ActivityKernel7);
SAME_KERNEL(CUpti_ActivityKernel9);

#define SAME_PLACE(ours, theirs)          \
  SAME(ours, kind, theirs, kind);         \
  SAME(ours, start, theirs, start);       \
  SAME(ours, end, theirs, end);           \
  SAME(ours, device, theirs, deviceId);   \
  SAME(ours, context, theirs, contextId); \
  SAME(ours, stream, theirs, streamId);   \
  SAME(ours, correlation, theirs, correlationId)
#define SAME_COPY(ours, theirs)            \
  SAME_PLACE(ours, theirs);                \
  SAME(ours, copy_kind, theirs, copyKind); \
  SAME(ours, bytes, theirs, bytes);        \
  SAME(ours, graph_node, theirs, graphNodeId)
SAME_COPY(CopyRecord, CUpti_ActivityMemcpy3);
SAME_COPY(CopyRecord, CUpti_ActivityMemcpy5);
SAME_COPY(PeerCopyRecord, CUpti_ActivityMemcpyPtoP2);
SAME_COPY(PeerCopyRecord, CUpti_ActivityMemcpyPtoP3);
SAME_PLACE(SetRecord, CUpti_ActivityMemset2);
SAME(SetRecord, bytes, CUpti_ActivityMemset2, bytes);
SAME(SetRecord, graph_node, CUpti_ActivityMemset2, graphNodeId);
SAME_PLACE(SetRecord, CUpti_ActivityMemset3);
SAME_PLACE(GraphRecord, CUpti_ActivityGraphTrace);
SAME(GraphRecord, graph, CUpti_ActivityGraphTrace, graphId);
#define SAME_MEMORY(theirs)                                   \
  SAME(MemoryRecord, kind, theirs, kind);                     \
  SAME(MemoryRecord, operation, theirs, memoryOperationType); \
  SAME(MemoryRecord, memory_kind, theirs, memoryKind);        \
  SAME(MemoryRecord, correlation, theirs, correlationId);     \
  SAME(MemoryRecord, address, theirs, address);               \
  SAME(MemoryRecord, bytes, theirs, bytes);                   \
  SAME(MemoryRecord, time, theirs, timestamp);                \
  SAME(MemoryRecord, device, theirs, deviceId);               \
  SAME(MemoryRecord, context, theirs, contextId);             \
  SAME(MemoryRecord, stream, theirs, streamId)
SAME_MEMORY(CUpti_ActivityMemory2);
SAME_MEMORY(CUpti_ActivityMemory3);
#define SAME_DEVICE(theirs)                                                   \
  SAME(DeviceRecord, kind, theirs, kind);                                     \
  SAME(DeviceRecord, threads_of_warp, theirs, numThreadsPerWarp);             \
  SAME(DeviceRecord, processors, theirs, numMultiprocessors);                 \
  SAME(DeviceRecord, warps, theirs, maxWarpsPerMultiprocessor);               \
  SAME(DeviceRecord, blocks, theirs, maxBlocksPerMultiprocessor);             \
  SAME(DeviceRecord, shared_bytes, theirs, maxSharedMemoryPerMultiprocessor); \
  SAME(DeviceRecord, registers, theirs, maxRegistersPerMultiprocessor);       \
  SAME(DeviceRecord, major_capability, theirs, computeCapabilityMajor);       \
  SAME(DeviceRecord, minor_capability, theirs, computeCapabilityMinor);       \
  SAME(DeviceRecord, id, theirs, id);                                         \
  SAME(DeviceRecord, name, theirs, name)
SAME_DEVICE(CUpti_ActivityDevice2);
SAME_DEVICE(CUpti_ActivityDevice3);
SAME_DEVICE(CUpti_ActivityDevice4);
#if CUPTI_API_VERSION >= 130000  // the newest ones of that version
SAME_KERNEL(CUpti_ActivityKernel10);
SAME_COPY(CopyRecord, CUpti_ActivityMemcpy6);
SAME_COPY(PeerCopyRecord, CUpti_ActivityMemcpyPtoP4);
SAME_PLACE(SetRecord, CUpti_ActivityMemset4);
SAME(SetRecord, bytes, CUpti_ActivityMemset4, bytes);
SAME_PLACE(GraphRecord, CUpti_ActivityGraphTrace2);
SAME_MEMORY(CUpti_ActivityMemory4);
SAME_DEVICE(CUpti_ActivityDevice5);
#endif

template <class Ours, class Theirs>
constexpr bool takes_as_many = false;
template <class Result, class... Ours, class Theirs, class... Parameters>
constexpr bool takes_as_many<Result (*)(Ours...), Theirs (*)(Parameters...)> =
    sizeof(Result) == sizeof(Theirs) && ((sizeof(Ours) == sizeof(Parameters)) && ...);
#define TAKES(field, theirs) \
  static_assert(takes_as_many<decltype(CuptiFunctions::field), decltype(&theirs)>)
TAKES(subscribe, cuptiSubscribe);
TAKES(unsubscribe, cuptiUnsubscribe);
TAKES(version, cuptiGetVersion);
TAKES(enable_callback, cuptiEnableCallback);
TAKES(enable_domain, cuptiEnableDomain);
TAKES(result_string, cuptiGetResultString);
TAKES(register_buffers, cuptiActivityRegisterCallbacks);
TAKES(register_clock, cuptiActivityRegisterTimestampCallback);
TAKES(timestamp, cuptiGetTimestamp);
TAKES(enable, cuptiActivityEnable);
TAKES(disable, cuptiActivityDisable);
TAKES(next_record, cuptiActivityGetNextRecord);
TAKES(dropped_records, cuptiActivityGetNumDroppedRecords);
TAKES(flush, cuptiActivityFlushAll);
TAKES(graph_node, cuptiGetGraphNodeId);

constexpr bool has(CuptiDomain domain, std::string_view name, int id) {
  for (const LaunchFunction& function : functions) {
    if (function.domain != domain || function.name != name) continue;
    for (const std::uint16_t known : function.ids) {
      if (known == id) return true;
    }
  }
  return false;
}
#define DRIVER(name, id) static_assert(has(CuptiDomain::driver, name, CUPTI_DRIVER_TRACE_CBID_##id))
#define RUNTIME(name, id) \
  static_assert(has(CuptiDomain::runtime, name, CUPTI_RUNTIME_TRACE_CBID_##id))
DRIVER("cuLaunchKernel", cuLaunchKernel);
DRIVER("cuLaunchKernel", cuLaunchKernel_ptsz);
DRIVER("cuLaunchKernelEx", cuLaunchKernelEx);
DRIVER("cuLaunchKernelEx", cuLaunchKernelEx_ptsz);
DRIVER("cuLaunchCooperativeKernel", cuLaunchCooperativeKernel);
DRIVER("cuLaunchCooperativeKernelMultiDevice", cuLaunchCooperativeKernelMultiDevice);
DRIVER("cuGraphLaunch", cuGraphLaunch);
DRIVER("cuGraphLaunch", cuGraphLaunch_ptsz);
DRIVER("cuMemcpyHtoD", cuMemcpyHtoD_v2);
DRIVER("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync_v2);
DRIVER("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync_v2_ptsz);
DRIVER("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync_v2);
DRIVER("cuMemcpyDtoDAsync", cuMemcpyDtoDAsync_v2);
DRIVER("cuMemcpyAsync", cuMemcpyAsync);
DRIVER("cuMemcpyPeerAsync", cuMemcpyPeerAsync);
DRIVER("cuMemcpy3DAsync", cuMemcpy3DAsync_v2);
DRIVER("cuMemsetD8Async", cuMemsetD8Async);
DRIVER("cuMemsetD32Async", cuMemsetD32Async_ptsz);
RUNTIME("cudaLaunchKernel", cudaLaunchKernel_v7000);
RUNTIME("cudaLaunchKernel", cudaLaunchKernel_ptsz_v7000);
RUNTIME("cudaLaunchKernelExC", cudaLaunchKernelExC_v11060);
RUNTIME("cudaLaunchCooperativeKernel", cudaLaunchCooperativeKernel_v9000);
RUNTIME("cudaGraphLaunch", cudaGraphLaunch_v10000);
RUNTIME("cudaMemcpy", cudaMemcpy_v3020);
RUNTIME("cudaMemcpyAsync", cudaMemcpyAsync_v3020);
RUNTIME("cudaMemcpyAsync", cudaMemcpyAsync_ptsz_v7000);
RUNTIME("cudaMemset", cudaMemset_v3020);
RUNTIME("cudaMemsetAsync", cudaMemsetAsync_v3020);
RUNTIME("cudaMemcpyPeerAsync", cudaMemcpyPeerAsync_v4000);

static_assert(begin_capture_ids[0] == CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture);
static_assert(begin_capture_ids[1] == CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_ptsz);
static_assert(begin_capture_ids[2] == CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2);
static_assert(begin_capture_ids[3] == CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCapture_v2_ptsz);
static_assert(begin_capture_ids[4] == CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph);
static_assert(begin_capture_ids[5] == CUPTI_DRIVER_TRACE_CBID_cuStreamBeginCaptureToGraph_ptsz);
static_assert(end_capture_ids[0] == CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture);
static_assert(end_capture_ids[1] == CUPTI_DRIVER_TRACE_CBID_cuStreamEndCapture_ptsz);

}  // namespace

#endif

int main() { return 0; }
