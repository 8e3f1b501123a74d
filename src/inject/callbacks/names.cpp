// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/callbacks/callbacks.hpp"
#include "inject/decode/attributes.hpp"

#include <type_traits>

namespace nvspan::inject {
namespace {

template <typename Id>
std::uint64_t id_bits(Id id) noexcept {
  if constexpr (std::is_pointer_v<Id>) {
    return handle_bits(id);
  } else {
    return static_cast<std::uint64_t>(static_cast<std::int64_t>(id));
  }
}

// What is named: a literal for each instantiation of name_object.
constexpr char cu_device[] = "cu_device";
constexpr char cu_context[] = "cu_context";
constexpr char cu_stream[] = "cu_stream";
constexpr char cu_event[] = "cu_event";
constexpr char cuda_device[] = "cuda_device";
constexpr char cuda_stream[] = "cuda_stream";
constexpr char cuda_event[] = "cuda_event";
constexpr char cl_device[] = "cl_device";
constexpr char cl_context[] = "cl_context";
constexpr char cl_command_queue[] = "cl_command_queue";
constexpr char cl_mem_object[] = "cl_mem_object";
constexpr char cl_sampler[] = "cl_sampler";
constexpr char cl_program[] = "cl_program";
constexpr char cl_event[] = "cl_event";

template <trace::EventKind kind, const char* object_kind, typename Id, typename Char>
void NVTX_API name_object(Id id, const Char* name) noexcept {
  guarded([&](Call& call) {
    trace::Event event = call.event(kind);
    call.add(trace::Field::string("what", object_kind));
    call.add(trace::Field::count("handle", id_bits(id)));
    call.add(trace::Field::string("name", to_text(call, name)));
    call.emit(event);
  });
}

template <trace::EventKind kind, const char* object_kind, typename Id>
void set_pair(NvtxFunctionTable table, unsigned size, unsigned id) {
  set_entry(table, size, id, name_object<kind, object_kind, Id, char>);
  set_entry(table, size, id + 1, name_object<kind, object_kind, Id, wchar_t>);
}

constexpr trace::EventKind cuda = trace::EventKind::name_cuda;
constexpr trace::EventKind opencl = trace::EventKind::name_opencl;

}  // namespace

void install_cuda(NvtxFunctionTable table, unsigned size) {
  set_pair<cuda, cu_device, nvtx_CUdevice>(table, size, NVTX_CBID_CUDA_NameCuDeviceA);
  set_pair<cuda, cu_context, nvtx_CUcontext>(table, size, NVTX_CBID_CUDA_NameCuContextA);
  set_pair<cuda, cu_stream, nvtx_CUstream>(table, size, NVTX_CBID_CUDA_NameCuStreamA);
  set_pair<cuda, cu_event, nvtx_CUevent>(table, size, NVTX_CBID_CUDA_NameCuEventA);
}

void install_cudart(NvtxFunctionTable table, unsigned size) {
  set_pair<cuda, cuda_device, int>(table, size, NVTX_CBID_CUDART_NameCudaDeviceA);
  set_pair<cuda, cuda_stream, nvtx_cudaStream_t>(table, size, NVTX_CBID_CUDART_NameCudaStreamA);
  set_pair<cuda, cuda_event, nvtx_cudaEvent_t>(table, size, NVTX_CBID_CUDART_NameCudaEventA);
}

void install_opencl(NvtxFunctionTable table, unsigned size) {
  set_pair<opencl, cl_device, void*>(table, size, NVTX_CBID_OPENCL_NameClDeviceA);
  set_pair<opencl, cl_context, void*>(table, size, NVTX_CBID_OPENCL_NameClContextA);
  set_pair<opencl, cl_command_queue, void*>(table, size, NVTX_CBID_OPENCL_NameClCommandQueueA);
  set_pair<opencl, cl_mem_object, void*>(table, size, NVTX_CBID_OPENCL_NameClMemObjectA);
  set_pair<opencl, cl_sampler, void*>(table, size, NVTX_CBID_OPENCL_NameClSamplerA);
  set_pair<opencl, cl_program, void*>(table, size, NVTX_CBID_OPENCL_NameClProgramA);
  set_pair<opencl, cl_event, void*>(table, size, NVTX_CBID_OPENCL_NameClEventA);
}

}  // namespace nvspan::inject
