// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which NVTX tool listens, if any.
//
// NVTX initialises once per shared object and for good. nvspan keeps a dispatch table of its own
// beside it, so that a tool of ours can be attached, detached and attached again in a running
// process. Each attachment has a new epoch; every handle got from a tool is stored with the epoch
// that it belongs to and is made anew when the epoch has changed, so nothing dangles.
//
// Contract: tables are never freed and a tool's library is never unloaded; a thread that read the
// table just before a detach may still call into it.

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "nvtx/abi.hpp"

namespace nvspan {

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
  Function core2_slot(unsigned id) const noexcept {
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

namespace detail {
extern const ToolTable undecided_tool;
extern std::atomic<const ToolTable*> current_tool;   // null also while annotations are off
extern std::atomic<const ToolTable*> attached_tool;  // whatever the switch says
const ToolTable* decide_tool() noexcept;
}  // namespace detail

// The tool that listens, or null. The first call of the process decides whether there is one.
// What opens a range or marks asks this.
inline const ToolTable* listening_tool() noexcept {
  const ToolTable* tool = detail::current_tool.load(std::memory_order_acquire);
  if (tool == nullptr) return nullptr;
  if (tool == &detail::undecided_tool) return detail::decide_tool();
  return tool;
}

// The tool that is attached, or null: what closes a range asks this, so that a range that was
// opened before annotations were switched off is closed all the same.
inline const ToolTable* closing_tool() noexcept {
  return detail::attached_tool.load(std::memory_order_acquire);
}

// True once the first annotation (or attach_tool) has looked for a tool.
bool tool_decided() noexcept;

// True while a tool listens or nobody has looked yet: what a decorated function is instrumented
// for. False while annotations are off.
inline bool tool_possible() noexcept {
  return detail::current_tool.load(std::memory_order_acquire) != nullptr;
}

// `NVTX_DISABLE` was set when the library was loaded: no tool is ever looked for.
bool disabled_by_environment() noexcept;

// Switches the annotations of the process off and on again. A range that is open is closed in both
// states; the cost when off is that of no tool.
void set_annotations_enabled(bool enabled) noexcept;
bool annotations_enabled() noexcept;

// Off while at least one pause lasts, whatever the switch says. `change` is +1 or -1.
void pause_annotations(int change) noexcept;

// Has the listener called as after a change: what single domains want has changed.
void notify_tool_listener() noexcept;

// The tool that is attached, without our tables over it; null if there is none.
const ToolTable* real_tool() noexcept;

// Has our tables laid over the tool, or taken off, as emitting() and checking() say.
void republish_tool() noexcept;

// The library that the attached tool came from, as a path; empty if there is none.
std::string tool_library();

// Whether a library is Nsight Compute's, by its path: that of the Nsight Systems that is installed
// within Nsight Compute is not.
bool is_nsight_compute(std::string_view library) noexcept;

// Whether the attached tool is Nsight Compute. It repeats what a range has the GPU do, and ends the
// program at a call of the driver that it cannot repeat.
bool tool_replays_ranges() noexcept;

// Called with tool_possible() after each change of it, by the thread that made the change, and when
// it has been decided whether there is a tool.
using ToolListener = void (*)(bool possible);
void set_tool_listener(ToolListener listener) noexcept;

// Connects the NVTX injection library at `path` to this process's nvspan, and no other emitter.
// Returns an empty string, or what went wrong.
std::string attach_tool(const std::string& path, const std::string& config);

// Disconnects what attach_tool connected; without it, does nothing.
void detach_tool() noexcept;

}  // namespace nvspan
