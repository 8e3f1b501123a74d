// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// A mirror of the annotations: what is pushed, popped and marked goes to the host, too, with or
// without a tool.
//
// While it is on, a dispatch table of ours lies over the tool's (mirror_layer.cpp), below that of
// check mode. Start/end ranges go to the tool alone: they nest in no thread.

#include <atomic>

#include "annotate/event/event.hpp"
#include "annotate/tool/tool_table.hpp"

namespace nvspan::annotate {

// Called by the thread that emits, whatever it holds. The pops of a thread fit its pushes of the
// same domain, but for what was open before: see `epoch` of Outgoing and of the table.
struct MirrorHost {
  void (*push)(const Outgoing& event) noexcept;
  void (*pop)(nvtxDomainHandle_t domain) noexcept;
  void (*mark)(const Outgoing& event) noexcept;
};

namespace detail {
extern std::atomic<const MirrorHost*> mirror_host;
}  // namespace detail

inline bool mirroring() noexcept {
  return detail::mirror_host.load(std::memory_order_relaxed) != nullptr;
}

// Switches the mirror on, or off with null. `host` is immortal.
void set_mirror_host(const MirrorHost* host) noexcept;

namespace mirror {

// As ToolLayer has it.
ToolTable* table_over(const ToolTable* tool) noexcept;

}  // namespace mirror

}  // namespace nvspan::annotate
