// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The one place where NVTX's header-only implementation is instantiated.
#define NVSPAN_NVTX_WITH_IMPLEMENTATION
#include "annotate/tool/environment_tool.hpp"

#include <cstdlib>
#include <cstring>

#include "core/os/library.hpp"

#if NVSPAN_HAVE_NVTX
#include <nvtx3/nvToolsExtCounters.h>
#endif

namespace nvspan::annotate {

#if NVSPAN_HAVE_NVTX

namespace {

bool any_filled(NvtxFunctionPointer* const* table, unsigned size) noexcept {
  for (unsigned i = 1; i < size; ++i) {
    if (table[i] && *table[i]) return true;
  }
  return false;
}

// A tool may load and fill its tables later (a profiler that is subscribed to on demand).
bool injection_is_resident() noexcept {
  const char* path =
      std::getenv(sizeof(void*) == 4 ? "NVTX_INJECTION32_PATH" : "NVTX_INJECTION64_PATH");
  return path && *path && std::strcmp(path, "./.") != 0 && core::Library::resident(path);
}

}  // namespace

bool find_environment_tool(ToolTable& table) noexcept {
  nvtxInitialize(nullptr);
  auto& globals = NVTX_VERSIONED_IDENTIFIER(nvtxGlobals);
  table.core = globals.functionTable_CORE;
  table.core2 = globals.functionTable_CORE2;
  table.cuda = globals.functionTable_CUDA;
  if (!any_filled(table.core, NVTX_CBID_CORE_SIZE) &&
      !any_filled(table.core2, NVTX_CBID_CORE2_SIZE) && !injection_is_resident()) {
    return false;
  }
  // The call makes the payload extension look for its part of the tool. Its answer is not used: for
  // a tool without the extension it is 0 although every event is recorded (nsys 2022.4, 2023.4).
  nvtxDomainIsEnabled(nullptr);
  table.counters = NVTX_EXT_COUNTERS_VERSIONED_ID(nvtxExtCountersSlots) + 1;
  table.connect_counters = NVTX_EXT_COUNTERS_VERSIONED_ID(nvtxExtCountersInitOnce);
  table.payload = NVTX_EXT_PAYLOAD_VERSIONED_ID(nvtxExtPayloadSlots) + 1;
  return true;
}

#else

bool find_environment_tool(ToolTable&) noexcept { return false; }

#endif

}  // namespace nvspan::annotate
