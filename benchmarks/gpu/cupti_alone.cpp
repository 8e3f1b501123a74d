// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// CUPTI's kernel records and nothing else: no callbacks, no clock, and what is delivered is not
// looked at. What a recorder costs beyond this is its own. bench_kernels.py builds and loads it.

#include "cupti/abi.hpp"

#include <dlfcn.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <initializer_list>

namespace {

using namespace nvspan::cupti;

void request(std::uint8_t** buffer, std::size_t* size, std::size_t* records) {
  *size = std::size_t{256} * 1024;
  *buffer = static_cast<std::uint8_t*>(std::aligned_alloc(64, *size));
  *records = 0;
}
void complete(void*, std::uint32_t, std::uint8_t* buffer, std::size_t, std::size_t) {
  std::free(buffer);
}

}  // namespace

// 0: it has begun.
extern "C" int cupti_alone(const char* path) {
  void* const library = dlopen(path, RTLD_NOW);
  if (library == nullptr) return -1;
  const auto register_buffers = reinterpret_cast<decltype(CuptiFunctions::register_buffers)>(
      dlsym(library, "cuptiActivityRegisterCallbacks"));
  const auto enable =
      reinterpret_cast<decltype(CuptiFunctions::enable)>(dlsym(library, "cuptiActivityEnable"));
  int result = register_buffers(request, complete);
  for (const ActivityKind kind : {ActivityKind::concurrent_kernel, ActivityKind::copy,
                                  ActivityKind::set, ActivityKind::graph}) {
    if (result == cupti_success) result = enable(kind);
  }
  return result;
}
