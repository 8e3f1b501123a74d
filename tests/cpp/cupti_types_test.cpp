// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
//
// What src/inject/driver declares of CUPTI, and where it looks for a call's stream, against
// NVIDIA's own headers. Everything is checked by the compiler; the program does nothing.

#if __has_include(<cupti_callbacks.h>) && __has_include(<generated_cuda_meta.h>)

#define __CUDA_API_VERSION_INTERNAL  // CUdeviceptr_v1, which the second header needs
#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_driver_cbid.h>
#include <cupti_result.h>
#include <generated_cuda_meta.h>

#include <cstddef>
#include <type_traits>

#include "inject/driver/cupti.hpp"
#include "inject/driver/known_calls.cpp"

namespace {

using namespace nvspan::inject;

static_assert(cupti_success == CUPTI_SUCCESS);
static_assert(cupti_multiple_subscribers == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED);
static_assert(static_cast<int>(CuptiDomain::driver_api) == CUPTI_CB_DOMAIN_DRIVER_API);
static_assert(static_cast<int>(CuptiDomain::resource) == CUPTI_CB_DOMAIN_RESOURCE);
static_assert(static_cast<int>(CuptiSite::enter) == CUPTI_API_ENTER);
static_assert(static_cast<int>(CuptiSite::exit) == CUPTI_API_EXIT);
static_assert(cupti_context_created == CUPTI_CBID_RESOURCE_CONTEXT_CREATED);
static_assert(cupti_module_loaded == CUPTI_CBID_RESOURCE_MODULE_LOADED);
static_assert(CUPTI_DRIVER_TRACE_CBID_SIZE < 4096);

static_assert(sizeof(CuptiCall) == sizeof(CUpti_CallbackData));
static_assert(sizeof(CuptiSite) == sizeof(CUpti_ApiCallbackSite));
static_assert(sizeof(CuptiDomain) == sizeof(CUpti_CallbackDomain));
static_assert(offsetof(CuptiCall, site) == offsetof(CUpti_CallbackData, callbackSite));
static_assert(offsetof(CuptiCall, function_name) == offsetof(CUpti_CallbackData, functionName));
static_assert(offsetof(CuptiCall, parameters) == offsetof(CUpti_CallbackData, functionParams));

template <class Ours, class Theirs>
constexpr bool takes_as_many = false;
template <class Result, class... Ours, class Theirs, class... Parameters>
constexpr bool takes_as_many<Result (*)(Ours...), Theirs (*)(Parameters...)> =
    sizeof(Result) == sizeof(Theirs) && ((sizeof(Ours) == sizeof(Parameters)) && ...);
static_assert(takes_as_many<decltype(Cupti::subscribe), decltype(&cuptiSubscribe)>);
static_assert(takes_as_many<decltype(Cupti::unsubscribe), decltype(&cuptiUnsubscribe)>);
static_assert(takes_as_many<decltype(Cupti::enable_callback), decltype(&cuptiEnableCallback)>);
static_assert(takes_as_many<decltype(Cupti::enable_domain), decltype(&cuptiEnableDomain)>);
static_assert(takes_as_many<decltype(Cupti::result_string), decltype(&cuptiGetResultString)>);

constexpr CallPlace place_of(std::string_view name) {
  for (const CallPlace& place : places) {
    if (place.name == name) return place;
  }
  return {};
}
#define SAME_PLACE(name, call) \
  static_assert(place_of(name).stream == offsetof(call##_params, hStream), name)
#define SAME_EVENT(name, call) \
  static_assert(place_of(name).event == offsetof(call##_params, hEvent), name)
SAME_PLACE("cuLaunchKernel", cuLaunchKernel);
SAME_PLACE("cuLaunchCooperativeKernel", cuLaunchCooperativeKernel);
static_assert(place_of("cuLaunchKernelEx").stream == offsetof(CUlaunchConfig, hStream));
static_assert(offsetof(cuLaunchKernelEx_params, config) == 0);
SAME_PLACE("cuLaunchHostFunc", cuLaunchHostFunc);
SAME_PLACE("cuGraphLaunch", cuGraphLaunch);
SAME_PLACE("cuStreamSynchronize", cuStreamSynchronize);
SAME_PLACE("cuStreamAddCallback", cuStreamAddCallback);
SAME_PLACE("cuMemcpyAsync", cuMemcpyAsync);
SAME_PLACE("cuMemcpyHtoDAsync", cuMemcpyHtoDAsync_v2);
SAME_PLACE("cuMemcpyDtoHAsync", cuMemcpyDtoHAsync_v2);
SAME_PLACE("cuMemcpyDtoDAsync", cuMemcpyDtoDAsync_v2);
SAME_PLACE("cuMemcpyHtoAAsync", cuMemcpyHtoAAsync_v2);
SAME_PLACE("cuMemcpyAtoHAsync", cuMemcpyAtoHAsync_v2);
SAME_PLACE("cuMemcpy2DAsync", cuMemcpy2DAsync_v2);
SAME_PLACE("cuMemcpy3DAsync", cuMemcpy3DAsync_v2);
SAME_PLACE("cuMemcpy3DPeerAsync", cuMemcpy3DPeerAsync);
SAME_PLACE("cuMemcpyPeerAsync", cuMemcpyPeerAsync);
SAME_PLACE("cuMemsetD8Async", cuMemsetD8Async);
SAME_PLACE("cuMemsetD16Async", cuMemsetD16Async);
SAME_PLACE("cuMemsetD32Async", cuMemsetD32Async);
SAME_PLACE("cuMemsetD2D8Async", cuMemsetD2D8Async);
SAME_PLACE("cuMemsetD2D16Async", cuMemsetD2D16Async);
SAME_PLACE("cuMemsetD2D32Async", cuMemsetD2D32Async);
SAME_PLACE("cuStreamWaitEvent", cuStreamWaitEvent);
SAME_PLACE("cuEventRecord", cuEventRecord);
SAME_PLACE("cuEventRecordWithFlags", cuEventRecordWithFlags);
SAME_EVENT("cuStreamWaitEvent", cuStreamWaitEvent);
SAME_EVENT("cuEventRecord", cuEventRecord);
SAME_EVENT("cuEventRecordWithFlags", cuEventRecordWithFlags);
SAME_EVENT("cuEventSynchronize", cuEventSynchronize);
SAME_EVENT("cuEventDestroy", cuEventDestroy_v2);

}  // namespace

#endif

int main() { return 0; }
