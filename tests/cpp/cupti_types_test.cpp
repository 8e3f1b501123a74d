// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
//
// What src/inject/cupti.hpp declares of CUPTI, against NVIDIA's own headers. Everything is checked
// by the compiler; the program does nothing.

#if __has_include(<cupti_callbacks.h>)

#include <cuda.h>
#include <cupti_callbacks.h>
#include <cupti_result.h>

#include <cstddef>
#include <type_traits>

#include "inject/cupti.hpp"

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

}  // namespace

#endif

int main() { return 0; }
