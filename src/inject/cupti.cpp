// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "inject/cupti.hpp"

#include <dlfcn.h>

#include <cstdio>

namespace nvspan::inject {
namespace {

char problem[512];

// The library's names, newest first: a process may have one of them by a path of its own.
constexpr const char* names[] = {"libcupti.so.13", "libcupti.so.12", "libcupti.so.11.8",
                                 "libcupti.so"};

template <typename Function>
bool find(void* library, const char* name, Function& function) {
  function = reinterpret_cast<Function>(::dlsym(library, name));
  return function != nullptr;
}

bool complete(void* library, Cupti& cupti) {
  return find(library, "cuptiSubscribe", cupti.subscribe) &&
         find(library, "cuptiUnsubscribe", cupti.unsubscribe) &&
         find(library, "cuptiEnableCallback", cupti.enable_callback) &&
         find(library, "cuptiEnableDomain", cupti.enable_domain) &&
         find(library, "cuptiGetResultString", cupti.result_string);
}

void describe(const Cupti& cupti, CuptiResult result, const char* name) {
  if (result == cupti_multiple_subscribers) {
    std::snprintf(problem, sizeof problem, "another tool uses CUPTI in the program");
    return;
  }
  const char* text = nullptr;
  if (cupti.result_string(result, &text) != cupti_success || text == nullptr) text = "an error";
  std::snprintf(problem, sizeof problem, "CUPTI (%s) cannot be used: %s (%d)", name, text, result);
}

bool subscribe(void* library, const char* name, CuptiCallback callback) {
  Cupti cupti;
  if (!complete(library, cupti)) {
    std::snprintf(problem, sizeof problem, "%s is no CUPTI that nvspan knows", name);
    return false;
  }
  void* subscriber = nullptr;
  CuptiResult result = cupti.subscribe(&subscriber, callback, nullptr);
  if (result != cupti_success) {
    describe(cupti, result, name);
    return false;
  }
  result = cupti.enable_domain(1, subscriber, CuptiDomain::driver_api);
  for (const std::uint32_t id : {cupti_context_created, cupti_module_loaded}) {
    if (result == cupti_success) {
      result = cupti.enable_callback(1, subscriber, CuptiDomain::resource, id);
    }
  }
  if (result == cupti_success) return true;
  describe(cupti, result, name);
  cupti.unsubscribe(subscriber);
  return false;
}

// A library that could not be used stays loaded: it may have begun threads.
bool subscribe_by_name(const char* name, int mode, CuptiCallback callback) {
  void* library = ::dlopen(name, RTLD_NOW | RTLD_LOCAL | mode);
  return library != nullptr && subscribe(library, name, callback);
}

}  // namespace

const char* subscribe_to_cupti(std::string_view paths, CuptiCallback callback) {
  problem[0] = 0;
  for (const char* name : names) {
    if (subscribe_by_name(name, RTLD_NOLOAD, callback)) return nullptr;
  }
  if (problem[0] != 0) return problem;  // a second copy beside the program's own would disturb both
  const bool has_paths = !paths.empty();
  while (!paths.empty()) {
    const std::string_view path = paths.substr(0, paths.find(':'));
    paths.remove_prefix(path.size() + (path.size() < paths.size() ? 1 : 0));
    char file[4096];
    if (path.empty() || path.size() >= sizeof file) continue;
    path.copy(file, path.size());
    file[path.size()] = 0;
    if (subscribe_by_name(file, 0, callback)) return nullptr;
  }
  for (const char* name : names) {
    if (!has_paths && subscribe_by_name(name, 0, callback)) return nullptr;
  }
  if (problem[0] == 0) {
    std::snprintf(problem, sizeof problem, "no CUPTI (libcupti.so.13 or .12) was found");
  }
  return problem;
}

}  // namespace nvspan::inject
