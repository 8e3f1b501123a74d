// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A CUPTI for the fake driver of driver.cpp: one subscriber, who sees the domains and callbacks
// that it enabled, in the layout of CUDA 13.0's cupti_callbacks.h. FAKE_CUPTI_RESULT is what
// cuptiSubscribe returns.

#include "hooks.hpp"

#include <dlfcn.h>

#include <cstdint>
#include <cstdlib>
#include <set>
#include <utility>

namespace {

struct CallbackData {
  int site;
  const char* function_name;
  const void* parameters;
  void* return_value;
  const char* symbol_name;
  void* context;
  std::uint32_t context_uid;
  std::uint64_t* correlation_data;
  std::uint32_t correlation_id;
};
struct ResourceData {
  void* context;
  void* handle;
  void* descriptor;
};

using Callback = void (*)(void*, int, std::uint32_t, const void*);
Callback subscribed = nullptr;
void* given = nullptr;
std::set<int> domains;
std::set<std::pair<int, std::uint32_t>> callbacks;

void seen(Site site, const char* name, unsigned id, const void* parameters) {
  if (!subscribed) return;
  const int domain = site == Site::resource ? 3 : 1;
  if (domains.count(domain) == 0 && callbacks.count({domain, id}) == 0) return;
  if (site == Site::resource) {
    const ResourceData data{};
    subscribed(given, domain, id, &data);
    return;
  }
  CallbackData data{};
  data.site = site == Site::exit;
  data.function_name = name;
  data.parameters = parameters;
  subscribed(given, domain, id, &data);
}

}  // namespace

#define FAKE_EXPORT extern "C" __attribute__((visibility("default")))

FAKE_EXPORT int cuptiSubscribe(void** subscriber, Callback callback, void* user) {
  if (const char* result = std::getenv("FAKE_CUPTI_RESULT")) return std::atoi(result);
  if (subscribed) return 39;
  void* driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
  auto* set_hook =
      reinterpret_cast<void (*)(Hook)>(driver ? dlsym(driver, "fake_driver_hook") : nullptr);
  if (!set_hook) return 15;  // CUPTI_ERROR_NOT_INITIALIZED
  subscribed = callback;
  given = user;
  set_hook(seen);
  *subscriber = &subscribed;
  return 0;
}

FAKE_EXPORT int cuptiUnsubscribe(void*) {
  subscribed = nullptr;
  return 0;
}

FAKE_EXPORT int cuptiEnableDomain(std::uint32_t, void*, int domain) {
  domains.insert(domain);
  return 0;
}

FAKE_EXPORT int cuptiEnableCallback(std::uint32_t, void*, int domain, std::uint32_t id) {
  callbacks.insert({domain, id});
  return 0;
}

FAKE_EXPORT int cuptiGetResultString(int result, const char** text) {
  *text = result == 15 ? "CUPTI_ERROR_NOT_INITIALIZED" : "CUPTI_ERROR_UNKNOWN";
  return 0;
}
