// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// Which NVTX tool listens, if any.
//
// NVTX initialises once per shared object and for good. nvspan keeps a dispatch table of its own
// beside it, so that a tool of ours can be attached, detached and attached again in a running
// process. Each attachment has a new epoch; every handle got from a tool is stored with the epoch
// that it belongs to and is created again when the epoch has changed, so nothing dangles.

#include <atomic>
#include <cstdint>
#include <string>
#include <string_view>

#include "annotate/tool/tool_table.hpp"

namespace nvspan::annotate {

namespace detail {
extern const ToolTable undecided_tool;
extern std::atomic<const ToolTable*> current_tool;   // null also while annotations are off
extern std::atomic<const ToolTable*> attached_tool;  // whatever the switch says
const ToolTable* decide_tool() noexcept;
}  // namespace detail

// The tool that listens, or null. The first call of the process decides whether there is one.
// What opens a range or marks asks this.
[[gnu::always_inline]] inline const ToolTable* listening_tool() noexcept {
  const ToolTable* tool = detail::current_tool.load(std::memory_order_acquire);
  if (tool == nullptr) return nullptr;
  if (tool == &detail::undecided_tool) return detail::decide_tool();
  return tool;
}

// The tool that is attached, or null: what closes a range asks this, so that a range that was
// opened before annotations were switched off is closed all the same.
[[gnu::always_inline]] inline const ToolTable* closing_tool() noexcept {
  return detail::attached_tool.load(std::memory_order_acquire);
}

// True once the first annotation (or attach_tool) has looked for a tool.
bool tool_decided() noexcept;

// True while a tool listens or nobody has looked yet: what a decorated function is instrumented
// for. False while annotations are off.
[[gnu::always_inline]] inline bool tool_possible() noexcept {
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

// Has our tables laid over the tool, or taken off, as each layer's enabled() says: tool_layer.hpp.
void republish_tool() noexcept;

// The library that the attached tool came from, as a path; empty if there is none.
std::string tool_library();

// Whether a library is Nsight Compute's, by its path: that of the Nsight Systems that is installed
// within Nsight Compute is not.
bool is_nsight_compute(std::string_view library) noexcept;

// Whether the attached tool is Nsight Compute. It repeats what a range has the GPU do, and ends the
// program at a call of the driver that it cannot repeat.
bool tool_replays_ranges() noexcept;

// Whether the attached tool is Nsight Compute, which forgets the strings that a thread registered
// when that thread ends: it takes messages as text.
bool tool_forgets_strings() noexcept;

// Called with tool_possible() after each change of it, by the thread that made the change, and when
// it has been decided whether there is a tool.
using ToolListener = void (*)(bool possible);
void set_tool_listener(ToolListener listener) noexcept;

// Connects the NVTX injection library at `path` to this process's nvspan, and no other emitter.
// Returns an empty string, or what went wrong.
std::string attach_tool(const std::string& path, const std::string& config);

// Disconnects what attach_tool connected; without it, does nothing.
void detach_tool() noexcept;

}  // namespace nvspan::annotate
