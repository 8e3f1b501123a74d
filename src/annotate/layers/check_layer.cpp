// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Check mode's dispatch table. Its slots are the tool's own, but for those that open and close:
// they take a note and pass the call on. Without a tool the calls end here.

#include "annotate/layers/check.hpp"
#include "annotate/tool/overlay.hpp"

namespace nvspan::annotate::check {

#if NVSPAN_HAVE_NVTX

namespace {

Overlays overlays;
std::atomic<uint64_t> last_id{0};

int NVTX_API checked_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  note_push(attributes);
  auto call = overlays.below<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx);
  return call ? call(domain, attributes) : 0;
}

int NVTX_API checked_pop(nvtxDomainHandle_t domain) {
  note_pop(domain);
  auto call = overlays.below<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop);
  return call ? call(domain) : 0;
}

nvtxRangeId_t NVTX_API checked_start(nvtxDomainHandle_t domain,
                                     const nvtxEventAttributes_t* attributes) {
  auto call =
      overlays.below<nvtxDomainRangeStartEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangeStartEx);
  const nvtxRangeId_t id = call ? call(domain, attributes) : ++last_id;
  note_start(attributes, id);
  return id;
}

void NVTX_API checked_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  note_end(domain, id);
  auto call = overlays.below<nvtxDomainRangeEnd_impl_fntype>(NVTX_CBID_CORE2_DomainRangeEnd);
  if (call) call(domain, id);
}

NvtxFunctionPointer push_slot = reinterpret_cast<NvtxFunctionPointer>(checked_push);
NvtxFunctionPointer pop_slot = reinterpret_cast<NvtxFunctionPointer>(checked_pop);
NvtxFunctionPointer start_slot = reinterpret_cast<NvtxFunctionPointer>(checked_start);
NvtxFunctionPointer end_slot = reinterpret_cast<NvtxFunctionPointer>(checked_end);

}  // namespace

ToolTable* table_over(const ToolTable* tool) noexcept {
  return overlays.over(tool, {{NVTX_CBID_CORE2_DomainRangePushEx, &push_slot},
                              {NVTX_CBID_CORE2_DomainRangePop, &pop_slot},
                              {NVTX_CBID_CORE2_DomainRangeStartEx, &start_slot},
                              {NVTX_CBID_CORE2_DomainRangeEnd, &end_slot}});
}

#else

ToolTable* table_over(const ToolTable*) noexcept { return nullptr; }

#endif

}  // namespace nvspan::annotate::check
