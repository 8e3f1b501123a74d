// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Calls every function of NVTX's core, naming and synchronisation headers once or more. It prints
// what those return that the test needs to know, and fails when a return value is wrong.

#include "events.hpp"

#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <nvtx3/nvToolsExtOpenCL.h>
#include <nvtx3/nvToolsExtSync.h>

#include <initializer_list>

namespace {

template <typename Handle>
Handle fake(unsigned long value) {
  return reinterpret_cast<Handle>(value);
}

void core() {
  nvtxInitialize(nullptr);
  nvtxNameCategoryA(7, "seven");
  nvtxNameCategoryW(8, L"acht \u00e9");
  nvtxEventAttributes_t full = named("mark ex");
  full.category = 7;
  full.colorType = NVTX_COLOR_ARGB;
  full.color = 0x8012ABCD;
  full.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
  full.payload.ullValue = 0xFFFFFFFFFFFFFFFFu;
  nvtxMarkEx(&full);
  nvtxMarkA("mark a");
  nvtxMarkW(L"mark w \u20ac \U0001F600");
  nvtxEventAttributes_t wide = attributes();
  wide.messageType = NVTX_MESSAGE_TYPE_UNICODE;
  wide.message.unicode = L"start ex";
  wide.category = 8;
  const nvtxRangeId_t first = nvtxRangeStartEx(&wide);
  const nvtxRangeId_t second = nvtxRangeStartA("start a");
  const nvtxRangeId_t third = nvtxRangeStartW(L"start w");
  CHECK(first != 0 && second != 0 && third != 0);
  CHECK(first != second && second != third && third != first);
  nvtxRangeEnd(second);
  nvtxRangeEnd(first);
  nvtxRangeEnd(third);
  nvtxEventAttributes_t payload = named("push ex");
  payload.payloadType = NVTX_PAYLOAD_TYPE_INT64;
  payload.payload.llValue = -9223372036854775807 - 1;
  CHECK(nvtxRangePushEx(&payload) == 0);
  CHECK(nvtxRangePushA("push a") == 1);
  CHECK(nvtxRangePushW(L"push w") == 2);
  CHECK(nvtxRangePop() == 2);
  CHECK(nvtxRangePop() == 1);
  CHECK(nvtxRangePop() == 0);
  CHECK(nvtxRangePop() < 0);
  nvtxNameOsThreadA(4000001, "thread a");
  nvtxNameOsThreadW(4000002, L"thread w");
}

void payloads() {
  nvtxEventAttributes_t mark = named("payload");
  mark.payloadType = NVTX_PAYLOAD_TYPE_DOUBLE;
  for (const double value : {0.1, -2.0, 1e300, 1.0 / 0.0, -1.0 / 0.0, 0.0 / 0.0}) {
    mark.payload.dValue = value;
    nvtxMarkEx(&mark);
  }
  mark.payload.ullValue = 0xAAAAAAAAAAAAAAAAu;
  mark.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT32;
  mark.payload.uiValue = 4294967295u;
  nvtxMarkEx(&mark);
  mark.payloadType = NVTX_PAYLOAD_TYPE_INT32;
  mark.payload.iValue = -5;
  nvtxMarkEx(&mark);
  mark.payloadType = NVTX_PAYLOAD_TYPE_FLOAT;
  mark.payload.fValue = 0.1f;
  nvtxMarkEx(&mark);
}

void domains() {
  nvtxDomainHandle_t a = nvtxDomainCreateA("domain a");
  nvtxDomainHandle_t w = nvtxDomainCreateW(L"domain w");
  CHECK(a != nullptr && w != nullptr && a != w);
  nvtxDomainNameCategoryA(a, 7, "a's seven");
  nvtxDomainNameCategoryW(w, 7, L"w's seven");
  nvtxStringHandle_t string_a = nvtxDomainRegisterStringA(a, "registered a");
  nvtxStringHandle_t string_w = nvtxDomainRegisterStringW(w, L"registered w");
  CHECK(string_a != nullptr && string_w != nullptr && string_a != string_w);
  CHECK(nvtxDomainRegisterStringA(a, "registered a") == string_a);
  nvtxEventAttributes_t in_a = named(string_a);
  in_a.category = 7;
  nvtxEventAttributes_t in_w = in_a;
  in_w.message.registered = string_w;
  nvtxDomainMarkEx(a, &in_a);
  CHECK(nvtxDomainRangePushEx(a, &in_a) == 0);
  CHECK(nvtxDomainRangePushEx(w, &in_w) == 0);
  CHECK(nvtxDomainRangePushEx(a, &in_a) == 1);
  const nvtxRangeId_t id = nvtxDomainRangeStartEx(w, &in_w);
  CHECK(nvtxDomainRangePop(w) == 0);
  CHECK(nvtxDomainRangePop(a) == 1);
  CHECK(nvtxDomainRangePop(a) == 0);
  nvtxDomainRangeEnd(w, id);
  nvtxResourceAttributes_t resource = {};
  resource.version = NVTX_VERSION;
  resource.size = NVTX_RESOURCE_ATTRIB_STRUCT_SIZE;
  resource.identifierType = NVTX_RESOURCE_TYPE_GENERIC_POINTER;
  resource.identifier.ullValue = 0x1234;
  resource.messageType = NVTX_MESSAGE_TYPE_ASCII;
  resource.message.ascii = "resource";
  nvtxResourceHandle_t handle = nvtxDomainResourceCreate(a, &resource);
  CHECK(handle != nullptr);
  nvtxDomainResourceDestroy(handle);
  nvtxDomainDestroy(w);
  nvtxDomainDestroy(a);
}

void names() {
  nvtxNameCuDeviceA(0, "cu device a");
  nvtxNameCuDeviceW(1, L"cu device w");
  nvtxNameCuContextA(fake<CUcontext>(16), "cu context a");
  nvtxNameCuContextW(fake<CUcontext>(17), L"cu context w");
  nvtxNameCuStreamA(fake<CUstream>(18), "cu stream a");
  nvtxNameCuStreamW(fake<CUstream>(19), L"cu stream w");
  nvtxNameCuEventA(fake<CUevent>(20), "cu event a");
  nvtxNameCuEventW(fake<CUevent>(21), L"cu event w");
  nvtxNameCudaDeviceA(2, "cuda device a");
  nvtxNameCudaDeviceW(3, L"cuda device w");
  nvtxNameCudaStreamA(fake<cudaStream_t>(22), "cuda stream a");
  nvtxNameCudaStreamW(fake<cudaStream_t>(23), L"cuda stream w");
  nvtxNameCudaEventA(fake<cudaEvent_t>(24), "cuda event a");
  nvtxNameCudaEventW(fake<cudaEvent_t>(25), L"cuda event w");
  nvtxNameClDeviceA(fake<cl_device_id>(32), "cl device a");
  nvtxNameClDeviceW(fake<cl_device_id>(33), L"cl device w");
  nvtxNameClContextA(fake<cl_context>(34), "cl context a");
  nvtxNameClContextW(fake<cl_context>(35), L"cl context w");
  nvtxNameClCommandQueueA(fake<cl_command_queue>(36), "cl queue a");
  nvtxNameClCommandQueueW(fake<cl_command_queue>(37), L"cl queue w");
  nvtxNameClMemObjectA(fake<cl_mem>(38), "cl mem a");
  nvtxNameClMemObjectW(fake<cl_mem>(39), L"cl mem w");
  nvtxNameClSamplerA(fake<cl_sampler>(40), "cl sampler a");
  nvtxNameClSamplerW(fake<cl_sampler>(41), L"cl sampler w");
  nvtxNameClProgramA(fake<cl_program>(42), "cl program a");
  nvtxNameClProgramW(fake<cl_program>(43), L"cl program w");
  nvtxNameClEventA(fake<cl_event>(44), "cl event a");
  nvtxNameClEventW(fake<cl_event>(45), L"cl event w");
}

void sync_objects() {
  nvtxSyncUserAttributes_t user = {};
  user.version = NVTX_VERSION;
  user.size = NVTX_SYNCUSER_ATTRIB_STRUCT_SIZE;
  user.messageType = NVTX_MESSAGE_TYPE_ASCII;
  user.message.ascii = "lock";
  nvtxSyncUser_t handle = nvtxDomainSyncUserCreate(nullptr, &user);
  CHECK(handle != nullptr);
  nvtxDomainSyncUserAcquireStart(handle);
  nvtxDomainSyncUserAcquireFailed(handle);
  nvtxDomainSyncUserAcquireSuccess(handle);
  nvtxDomainSyncUserReleasing(handle);
  nvtxDomainSyncUserDestroy(handle);
}

}  // namespace

int main() {
  core();
  payloads();
  domains();
  names();
  sync_objects();
}
