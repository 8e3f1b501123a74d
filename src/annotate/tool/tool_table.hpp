// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// How a tool is called: its slots for NVTX's functions.
//
// Contract: tables are never freed and a tool's library is never unloaded; a thread that read the
// table just before a detach may still call into it.

// What an event runs through is always inlined. Of an inline function that is not, the linker keeps
// one body, and where that is the one of a source optimised for size every event would call it.

#include <atomic>
#include <cstdint>

#include "nvtx/abi.hpp"

namespace nvspan::annotate {

struct ToolTable {
#if NVSPAN_HAVE_NVTX
  // Pointers to slots, not their contents: a tool may fill or clear a slot at any time.
  NvtxFunctionPointer* const* core = nullptr;
  NvtxFunctionPointer* const* core2 = nullptr;
  NvtxFunctionPointer* const* cuda = nullptr;  // null: the tool was offered none
  const intptr_t* payload = nullptr;
  const intptr_t* counters = nullptr;
  // Has the tool fill `counters`, where that is left until a program has a counter. Any thread.
  void (*connect_counters)() = nullptr;

  template <class Function>
  Function core_slot(unsigned id) const noexcept {
    return reinterpret_cast<Function>(*core[id]);
  }
  template <class Function>
  [[gnu::always_inline]] Function core2_slot(unsigned id) const noexcept {
    return reinterpret_cast<Function>(*core2[id]);
  }
  template <class Function>
  Function cuda_slot(unsigned id) const noexcept {
    return cuda && cuda[id] ? reinterpret_cast<Function>(*cuda[id]) : nullptr;
  }
  // Null unless the tool implements the function: NVTX keeps small state numbers in empty slots.
  template <class Function>
  Function payload_slot(unsigned id) const noexcept {
    return extension_slot<Function>(payload, id);
  }
  template <class Function>
  Function counter_slot(unsigned id) const noexcept {
    return extension_slot<Function>(counters, id);
  }
  template <class Function>
  static Function extension_slot(const intptr_t* slots, unsigned id) noexcept {
    constexpr intptr_t largest_state = 15;
    if (!slots || (slots[id] >= 0 && slots[id] <= largest_state)) return nullptr;
    return reinterpret_cast<Function>(slots[id]);
  }
#endif
  bool reaches_tool = true;  // false: a table of ours that lies over no tool
  std::atomic<uint64_t> epoch{0};
};

}  // namespace nvspan::annotate
