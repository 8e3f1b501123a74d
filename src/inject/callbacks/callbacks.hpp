// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The functions that a program's NVTX calls instead of nothing. Each set fills one of NVTX's
// tables: `size` entries, of which those that the program's NVTX does not have are null.

#pragma once

#include "inject/decode/nvtx_types.hpp"

#include <cstddef>
#include <cstdint>

namespace nvspan::inject {

void install_core(NvtxFunctionTable table, unsigned size);
void install_core2(NvtxFunctionTable table, unsigned size);
void install_cuda(NvtxFunctionTable table, unsigned size);
void install_cudart(NvtxFunctionTable table, unsigned size);
void install_opencl(NvtxFunctionTable table, unsigned size);
void install_sync(NvtxFunctionTable table, unsigned size);

void install_payload(std::intptr_t* slots, std::size_t count);
void install_deferred(std::intptr_t* slots, std::size_t count);
void install_counters(std::intptr_t* slots, std::size_t count);

template <typename Function>
void set_entry(NvtxFunctionTable table, unsigned size, unsigned id, Function* function) {
  if (id < size && table[id] != nullptr) {
    *table[id] = reinterpret_cast<NvtxFunctionPointer>(function);
  }
}

template <typename Function>
void set_slot(std::intptr_t* slots, std::size_t count, std::size_t id, Function* function) {
  if (id < count) slots[id] = reinterpret_cast<std::intptr_t>(function);
}

}  // namespace nvspan::inject
