// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Check mode's dispatch table. Its slots are the tool's own, but for those that open and close:
// they take a note and pass the call on. Without a tool the calls end here.
#include <map>
#include <memory>
#include <mutex>

#include "annotate/check.hpp"
#include "annotate/overlay.hpp"

namespace nvspan::check {

#if NVSPAN_HAVE_NVTX

namespace {

// NVTX callbacks carry no context: what is below is the process's, and set before the table over it
// is published.
std::atomic<const ToolTable*> tool_below{nullptr};
std::atomic<uint64_t> last_id{0};

template <class Function>
Function below(unsigned id) noexcept {
  const ToolTable* tool = tool_below.load(std::memory_order_acquire);
  return tool ? tool->core2_slot<Function>(id) : nullptr;
}

int NVTX_API checked_push(nvtxDomainHandle_t domain, const nvtxEventAttributes_t* attributes) {
  note_push(attributes);
  auto call = below<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx);
  return call ? call(domain, attributes) : 0;
}

int NVTX_API checked_pop(nvtxDomainHandle_t domain) {
  note_pop(domain);
  auto call = below<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop);
  return call ? call(domain) : 0;
}

nvtxRangeId_t NVTX_API checked_start(nvtxDomainHandle_t domain,
                                     const nvtxEventAttributes_t* attributes) {
  auto call = below<nvtxDomainRangeStartEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangeStartEx);
  const nvtxRangeId_t id = call ? call(domain, attributes) : ++last_id;
  note_start(attributes, id);
  return id;
}

void NVTX_API checked_end(nvtxDomainHandle_t domain, nvtxRangeId_t id) {
  note_end(domain, id);
  auto call = below<nvtxDomainRangeEnd_impl_fntype>(NVTX_CBID_CORE2_DomainRangeEnd);
  if (call) call(domain, id);
}

NvtxFunctionPointer push_slot = reinterpret_cast<NvtxFunctionPointer>(checked_push);
NvtxFunctionPointer pop_slot = reinterpret_cast<NvtxFunctionPointer>(checked_pop);
NvtxFunctionPointer start_slot = reinterpret_cast<NvtxFunctionPointer>(checked_start);
NvtxFunctionPointer end_slot = reinterpret_cast<NvtxFunctionPointer>(checked_end);

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
    overlay->take(NVTX_CBID_CORE2_DomainRangeStartEx, &start_slot);
    overlay->take(NVTX_CBID_CORE2_DomainRangeEnd, &end_slot);
  }
  tool_below.store(tool, std::memory_order_release);
  return overlay->table();
}

#else

ToolTable* table_over(const ToolTable*) noexcept { return nullptr; }

#endif

}  // namespace nvspan::check
