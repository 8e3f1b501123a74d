// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// A program's side of NVTX: tables of function pointers that a tool fills.

#pragma once

#define NVTX_NO_IMPL
#include <nvtx3/nvToolsExt.h>

#include <cstdint>

namespace nvspan_test {

struct NvtxClient {
  NvtxFunctionPointer core[NVTX_CBID_CORE_SIZE] = {};
  NvtxFunctionPointer core2[NVTX_CBID_CORE2_SIZE] = {};
  NvtxFunctionPointer* core_table[NVTX_CBID_CORE_SIZE] = {};
  NvtxFunctionPointer* core2_table[NVTX_CBID_CORE2_SIZE] = {};

  NvtxClient() {
    for (int i = 1; i < NVTX_CBID_CORE_SIZE; ++i) core_table[i] = &core[i];
    for (int i = 1; i < NVTX_CBID_CORE2_SIZE; ++i) core2_table[i] = &core2[i];
  }

  template <typename Function>
  Function in_core(int id) const {
    return reinterpret_cast<Function>(core[id]);
  }
  template <typename Function>
  Function in_core2(int id) const {
    return reinterpret_cast<Function>(core2[id]);
  }
};

inline NvtxClient client;

inline int get_module_table(NvtxCallbackModule module, NvtxFunctionTable* table, unsigned* size) {
  if (module != NVTX_CB_MODULE_CORE && module != NVTX_CB_MODULE_CORE2) return 0;
  const bool core = module == NVTX_CB_MODULE_CORE;
  *table = core ? client.core_table : client.core2_table;
  *size = core ? unsigned{NVTX_CBID_CORE_SIZE} : unsigned{NVTX_CBID_CORE2_SIZE};
  return 1;
}

// What a tool is connected with.
inline const void* get_export_table(std::uint32_t id) {
  static const NvtxExportTableCallbacks callbacks = {sizeof callbacks, get_module_table};
  return id == NVTX_ETID_CALLBACKS ? &callbacks : nullptr;
}

}  // namespace nvspan_test
