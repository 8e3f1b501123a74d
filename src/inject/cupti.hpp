// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// As much of CUPTI's callback interface as is used here. Names, numbers and layouts are those of
// cupti_callbacks.h and cupti_result.h of CUDA 13.0, where they are the same as in CUDA 10.0: CUPTI
// keeps them. tests/cpp/cupti_types_test.cpp compares them with the headers.

#pragma once

#include <cstdint>
#include <string_view>

namespace nvspan::inject {

using CuptiResult = int;
constexpr CuptiResult cupti_success = 0;
constexpr CuptiResult cupti_multiple_subscribers = 39;

enum class CuptiDomain : int { driver_api = 1, resource = 3 };
enum class CuptiSite : int { enter = 0, exit = 1 };
constexpr std::uint32_t cupti_context_created = 1;  // of the domain of resources
constexpr std::uint32_t cupti_module_loaded = 6;

// What a callback of the domain of the driver's API is given.
struct CuptiCall {
  CuptiSite site;
  const char* function_name;
  const void* parameters;  // the call's parameters in their order, as the members of a struct
  void* return_value;
  const char* symbol_name;
  void* context;
  std::uint32_t context_uid;
  std::uint64_t* correlation_data;
  std::uint32_t correlation_id;
};

using CuptiCallback = void (*)(void* user, CuptiDomain domain, std::uint32_t id, const void* data);

struct Cupti {
  CuptiResult (*subscribe)(void** subscriber, CuptiCallback callback, void* user) = nullptr;
  CuptiResult (*unsubscribe)(void* subscriber) = nullptr;
  CuptiResult (*enable_callback)(std::uint32_t enable, void* subscriber, CuptiDomain domain,
                                 std::uint32_t id) = nullptr;
  CuptiResult (*enable_domain)(std::uint32_t enable, void* subscriber,
                               CuptiDomain domain) = nullptr;
  CuptiResult (*result_string)(CuptiResult result, const char** text) = nullptr;
};

// Subscribes with the library that the process has already, else with the first of `paths` (with
// ':' between them) that can. Null, or a sentence about why nothing can, which lives for ever.
const char* subscribe_to_cupti(std::string_view paths, CuptiCallback callback);

}  // namespace nvspan::inject
