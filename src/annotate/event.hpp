// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One annotation's attributes, ready to be sent, and the calls that send them.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "annotate/domain.hpp"
#include "annotate/nvtx_abi.hpp"
#include "annotate/tool.hpp"

namespace nvspan {

// `text` is UTF-8 without embedded zeros, kept alive by the owner; null for an event with no message.
struct Event {
  Domain* domain = nullptr;
  const char* text = nullptr;
  size_t text_size = 0;
  std::atomic<uint64_t> ready_epoch{0};
  nvtxEventAttributes_t attributes{};

  Event() noexcept {
    attributes.version = NVTX_VERSION;
    attributes.size = sizeof(nvtxEventAttributes_t);
    attributes.colorType = NVTX_COLOR_ARGB;
    attributes.color = 0x0000FF;
  }

  void set_text(const char* utf8, size_t size) noexcept {
    text = utf8;
    text_size = size;
    ready_epoch.store(0, std::memory_order_release);
  }
};

struct Span {
  uint64_t id = 0;  // 0: nothing was sent
  uint64_t epoch = 0;
  Domain* domain = nullptr;
};

// True if the event may be sent to `tool`: its domain is wanted and its message is that tool's.
inline bool arm(Event& event, const ToolTable& tool) noexcept {
  if (!event.domain->connected(tool)) return false;
  const uint64_t epoch = tool.epoch.load(std::memory_order_acquire);
  if (event.ready_epoch.load(std::memory_order_acquire) != epoch) {
    event.domain->prepare(event, tool, epoch);
  }
  return true;
}

#if NVSPAN_HAVE_NVTX

inline void send_mark(const Event& event, const ToolTable& tool) noexcept {
  auto call = tool.core2_slot<nvtxDomainMarkEx_impl_fntype>(NVTX_CBID_CORE2_DomainMarkEx);
  if (call) call(event.domain->handle(), &event.attributes);
}

inline void send_push(const Event& event, const ToolTable& tool) noexcept {
  auto call = tool.core2_slot<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx);
  if (call) call(event.domain->handle(), &event.attributes);
}

inline void send_pop(const Domain& domain, const ToolTable& tool) noexcept {
  auto call = tool.core2_slot<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop);
  if (call) call(domain.handle());
}

inline uint64_t send_start(const Event& event, const ToolTable& tool) noexcept {
  auto call =
      tool.core2_slot<nvtxDomainRangeStartEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangeStartEx);
  return call ? call(event.domain->handle(), &event.attributes) : 0;
}

inline void send_end(const Domain& domain, uint64_t id, const ToolTable& tool) noexcept {
  auto call = tool.core2_slot<nvtxDomainRangeEnd_impl_fntype>(NVTX_CBID_CORE2_DomainRangeEnd);
  if (call) call(domain.handle(), id);
}

#else

inline void send_mark(const Event&, const ToolTable&) noexcept {}
inline void send_push(const Event&, const ToolTable&) noexcept {}
inline void send_pop(const Domain&, const ToolTable&) noexcept {}
inline uint64_t send_start(const Event&, const ToolTable&) noexcept { return 0; }
inline void send_end(const Domain&, uint64_t, const ToolTable&) noexcept {}

#endif

inline Span start_span(Event& event, const ToolTable& tool) noexcept {
  if (!arm(event, tool)) return {};
  const uint64_t id = send_start(event, tool);
  return {id, tool.epoch.load(std::memory_order_acquire), event.domain};
}

// Ends a span from any thread; what another attachment started is left alone.
inline void end_span(const Span& span) noexcept {
  if (span.epoch == 0) return;
  const ToolTable* tool = listening_tool();
  if (tool && tool->epoch.load(std::memory_order_acquire) == span.epoch) {
    send_end(*span.domain, span.id, *tool);
  }
}

}  // namespace nvspan
