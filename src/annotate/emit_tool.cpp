// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The second listener's dispatch table. The tool's calls lie inside the host's, so that the times
// that the tool takes are without the host's share.
#include <map>
#include <memory>
#include <mutex>

#include "annotate/emit.hpp"
#include "annotate/overlay.hpp"

namespace nvspan {

std::atomic<const EmitHost*> detail::emit_host{nullptr};

void set_emit_host(const EmitHost* host) noexcept {
  if (detail::emit_host.exchange(host) != host) republish_tool();
}

namespace emit {

#if NVSPAN_HAVE_NVTX

namespace {

// NVTX callbacks carry no context: this is the process's, and set before the table is published.
std::atomic<const ToolTable*> tool_below{nullptr};

const EmitHost* host() noexcept { return detail::emit_host.load(std::memory_order_acquire); }

const Outgoing& outgoing(const nvtxEventAttributes_t* attributes) noexcept {
  return *reinterpret_cast<const Outgoing*>(attributes);
}

template <class Function>
Function below(unsigned id) noexcept {
  const ToolTable* tool = tool_below.load(std::memory_order_acquire);
  return tool ? tool->core2_slot<Function>(id) : nullptr;
}

int NVTX_API emitted_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  if (const EmitHost* to = host()) to->push(outgoing(attributes));
  auto call = below<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx);
  return call ? call(domain, attributes) : 0;
}

int NVTX_API emitted_pop(nvtxDomainHandle_t domain) {
  auto call = below<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop);
  const int level = call ? call(domain) : 0;
  if (const EmitHost* to = host()) to->pop(domain);
  return level;
}

void NVTX_API emitted_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  auto call = below<nvtxDomainMarkEx_impl_fntype>(NVTX_CBID_CORE2_DomainMarkEx);
  if (call) call(domain, attributes);
  if (const EmitHost* to = host()) to->mark(outgoing(attributes));
}

NvtxFunctionPointer push_slot = reinterpret_cast<NvtxFunctionPointer>(emitted_push);
NvtxFunctionPointer pop_slot = reinterpret_cast<NvtxFunctionPointer>(emitted_pop);
NvtxFunctionPointer mark_slot = reinterpret_cast<NvtxFunctionPointer>(emitted_mark);

}  // namespace

ToolTable* table_over(const ToolTable* tool) noexcept {
  static std::mutex mutex;
  static auto* const overlays = new std::map<const ToolTable*, std::unique_ptr<Overlay>>;
  std::lock_guard<std::mutex> lock(mutex);
  std::unique_ptr<Overlay>& overlay = (*overlays)[tool];
  if (!overlay) {
    overlay = std::make_unique<Overlay>(tool);
    overlay->take(NVTX_CBID_CORE2_DomainRangePushEx, &push_slot);
    overlay->take(NVTX_CBID_CORE2_DomainRangePop, &pop_slot);
    overlay->take(NVTX_CBID_CORE2_DomainMarkEx, &mark_slot);
  }
  tool_below.store(tool, std::memory_order_release);
  return overlay->table();
}

#else

ToolTable* table_over(const ToolTable*) noexcept { return nullptr; }

#endif

}  // namespace emit

}  // namespace nvspan
