// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/tool/overlay.hpp"

namespace nvspan::annotate {

#if NVSPAN_HAVE_NVTX

namespace {

nvtxDomainHandle_t NVTX_API placeholder_domain(const char*) {
  static std::atomic<uintptr_t> last{0};
  return reinterpret_cast<nvtxDomainHandle_t>(++last);
}

NvtxFunctionPointer create_slot = reinterpret_cast<NvtxFunctionPointer>(placeholder_domain);
NvtxFunctionPointer no_slot = nullptr;

}  // namespace

Overlay::Overlay(const ToolTable* tool) noexcept {
  for (unsigned i = 0; i < NVTX_CBID_CORE_SIZE; ++i) {
    core_[i] = tool && tool->core[i] ? tool->core[i] : &no_slot;
  }
  for (unsigned i = 0; i < NVTX_CBID_CORE2_SIZE; ++i) {
    core2_[i] = tool && tool->core2[i] ? tool->core2[i] : &no_slot;
  }
  if (!tool) core2_[NVTX_CBID_CORE2_DomainCreateA] = &create_slot;
  table_.core = core_;
  table_.core2 = core2_;
  if (!tool) {
    table_.reaches_tool = false;
    return;
  }
  table_.cuda = tool->cuda;
  table_.payload = tool->payload;
  table_.counters = tool->counters;
  table_.connect_counters = tool->connect_counters;
  table_.reaches_tool = tool->reaches_tool;
}

ToolTable* Overlays::over(const ToolTable* tool, std::initializer_list<Taken> taken) noexcept {
  std::lock_guard<std::mutex> lock(mutex_);
  if (!overlays_) overlays_ = new std::map<const ToolTable*, std::unique_ptr<Overlay>>;
  std::unique_ptr<Overlay>& overlay = (*overlays_)[tool];
  if (!overlay) {
    overlay = std::make_unique<Overlay>(tool);
    for (const Taken& entry : taken) overlay->take(entry.id, entry.slot);
  }
  below_.store(tool, std::memory_order_release);
  return overlay->table();
}

#endif

}  // namespace nvspan::annotate
