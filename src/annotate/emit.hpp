// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A second listener: what is pushed, popped and marked goes to the host, too, with or without a
// tool.
//
// While it is on, a dispatch table of ours lies over the tool's (emit_tool.cpp), below that of
// check mode. Start/end ranges go to the tool alone: they nest in no thread.

#include <atomic>

#include "annotate/event.hpp"
#include "annotate/tool.hpp"

namespace nvspan {

// Called by the thread that emits, whatever it holds. The pops of a thread fit its pushes of the
// same domain, but for what was open before: see `epoch` of Outgoing and of the table.
struct EmitHost {
  void (*push)(const Outgoing& event) noexcept;
  void (*pop)(nvtxDomainHandle_t domain) noexcept;
  void (*mark)(const Outgoing& event) noexcept;
};

namespace detail {
extern std::atomic<const EmitHost*> emit_host;
}  // namespace detail

inline bool emitting() noexcept {
  return detail::emit_host.load(std::memory_order_relaxed) != nullptr;
}

// Switches the second listener on, or off with null. `host` is immortal.
void set_emit_host(const EmitHost* host) noexcept;

namespace emit {

// The table that lies over `tool` (null: over none). Made once for each and immortal.
ToolTable* table_over(const ToolTable* tool) noexcept;

}  // namespace emit

}  // namespace nvspan
