// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The mirror's dispatch table. The tool's calls lie inside the host's, so that the times
// that the tool takes are without the host's share.

#include "annotate/layers/mirror.hpp"
#include "annotate/tool/attachment.hpp"
#include "annotate/tool/overlay.hpp"

namespace nvspan::annotate {

std::atomic<const MirrorHost*> detail::mirror_host{nullptr};

void set_mirror_host(const MirrorHost* host) noexcept {
  if (detail::mirror_host.exchange(host) != host) republish_tool();
}

namespace mirror {

#if NVSPAN_HAVE_NVTX

namespace {

Overlays overlays;

const MirrorHost* host() noexcept { return detail::mirror_host.load(std::memory_order_acquire); }

const Outgoing& outgoing(const nvtxEventAttributes_t* attributes) noexcept {
  return *reinterpret_cast<const Outgoing*>(attributes);
}

int NVTX_API mirrored_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  if (const MirrorHost* to = host()) to->push(outgoing(attributes));
  auto call = overlays.below<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx);
  return call ? call(domain, attributes) : 0;
}

int NVTX_API mirrored_pop(nvtxDomainHandle_t domain) {
  auto call = overlays.below<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop);
  const int level = call ? call(domain) : 0;
  if (const MirrorHost* to = host()) to->pop(domain);
  return level;
}

void NVTX_API mirrored_mark(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  auto call = overlays.below<nvtxDomainMarkEx_impl_fntype>(NVTX_CBID_CORE2_DomainMarkEx);
  if (call) call(domain, attributes);
  if (const MirrorHost* to = host()) to->mark(outgoing(attributes));
}

NvtxFunctionPointer push_slot = reinterpret_cast<NvtxFunctionPointer>(mirrored_push);
NvtxFunctionPointer pop_slot = reinterpret_cast<NvtxFunctionPointer>(mirrored_pop);
NvtxFunctionPointer mark_slot = reinterpret_cast<NvtxFunctionPointer>(mirrored_mark);

}  // namespace

ToolTable* table_over(const ToolTable* tool) noexcept {
  return overlays.over(tool, {{NVTX_CBID_CORE2_DomainRangePushEx, &push_slot},
                              {NVTX_CBID_CORE2_DomainRangePop, &pop_slot},
                              {NVTX_CBID_CORE2_DomainMarkEx, &mark_slot}});
}

#else

ToolTable* table_over(const ToolTable*) noexcept { return nullptr; }

#endif

}  // namespace mirror

}  // namespace nvspan::annotate
