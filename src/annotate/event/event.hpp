// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#pragma once

// One annotation's attributes, ready to be sent, and the calls that send them.

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "annotate/event/domain.hpp"
#include "annotate/tool/attachment.hpp"
#include "nvtx/abi.hpp"

namespace nvspan::annotate {

// `text` is UTF-8 without embedded zeros, kept alive by the owner; null for an event with no
// message. The message as the tool of `ready_epoch` knows it is apart from the other attributes:
// any thread that sends the event may have to look it up again.
struct ReadyEvent {
  Domain* domain = nullptr;
  const char* text = nullptr;
  size_t text_size = 0;
  std::atomic<uint64_t> ready_epoch{0};
  std::atomic<int32_t> message_type{0};
  std::atomic<const void*> message{nullptr};
  uint32_t level = 1;
  nvtxEventAttributes_t attributes{};  // without the message

  ReadyEvent() noexcept {
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

// An event as it goes to one tool. The attributes come first: check mode, which lies between us and
// the tool, finds the rest by their address.
struct Outgoing {
  nvtxEventAttributes_t attributes;
  const ReadyEvent* source;
  const void* owner = nullptr;  // the annotation that pushes; null for push_range
  nvtxDomainHandle_t domain;
  uint64_t epoch;
};

// Fills `out` and returns true if `tool` wants the event. The message is read between two looks at
// the epoch, so that it is that of one tool also while another thread looks it up for the next.
[[gnu::always_inline]] inline bool prepare(ReadyEvent& event, const ToolTable& tool,
                                           Outgoing& out) noexcept {
  constexpr int most_changes = 4;
  for (int i = 0; i < most_changes; ++i) {
    if (!event.domain->connected(tool) || event.level > event.domain->level()) return false;
    const uint64_t epoch = tool.epoch.load(std::memory_order_acquire);
    if (event.ready_epoch.load(std::memory_order_acquire) != epoch) {
      event.domain->resolve_message(event, tool, epoch);
    }
    out.attributes = event.attributes;
    out.attributes.messageType = event.message_type.load(std::memory_order_acquire);
    out.attributes.message.ascii =
        static_cast<const char*>(event.message.load(std::memory_order_acquire));
    if (event.ready_epoch.load(std::memory_order_acquire) != epoch) continue;
    out.source = &event;
    out.domain = event.domain->handle();
    out.epoch = epoch;
    return true;
  }
  return false;  // the tool comes and goes faster than we can send
}

#if NVSPAN_HAVE_NVTX

[[gnu::always_inline]] inline void send_mark(const Outgoing& event,
                                             const ToolTable& tool) noexcept {
  auto call = tool.core2_slot<nvtxDomainMarkEx_impl_fntype>(NVTX_CBID_CORE2_DomainMarkEx);
  if (call) call(event.domain, &event.attributes);
}

[[gnu::always_inline]] inline void send_push(const Outgoing& event,
                                             const ToolTable& tool) noexcept {
  auto call = tool.core2_slot<nvtxDomainRangePushEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangePushEx);
  if (call) call(event.domain, &event.attributes);
}

[[gnu::always_inline]] inline void send_pop(const Domain& domain, const ToolTable& tool) noexcept {
  auto call = tool.core2_slot<nvtxDomainRangePop_impl_fntype>(NVTX_CBID_CORE2_DomainRangePop);
  if (call) call(domain.handle());
}

[[gnu::always_inline]] inline uint64_t send_start(const Outgoing& event,
                                                  const ToolTable& tool) noexcept {
  auto call =
      tool.core2_slot<nvtxDomainRangeStartEx_impl_fntype>(NVTX_CBID_CORE2_DomainRangeStartEx);
  return call ? call(event.domain, &event.attributes) : 0;
}

[[gnu::always_inline]] inline void send_end(const Domain& domain, uint64_t id,
                                            const ToolTable& tool) noexcept {
  auto call = tool.core2_slot<nvtxDomainRangeEnd_impl_fntype>(NVTX_CBID_CORE2_DomainRangeEnd);
  if (call) call(domain.handle(), id);
}

#else

inline void send_mark(const Outgoing&, const ToolTable&) noexcept {}
inline void send_push(const Outgoing&, const ToolTable&) noexcept {}
inline void send_pop(const Domain&, const ToolTable&) noexcept {}
inline uint64_t send_start(const Outgoing&, const ToolTable&) noexcept { return 0; }
inline void send_end(const Domain&, uint64_t, const ToolTable&) noexcept {}

#endif

[[gnu::always_inline]] inline Span start_span(ReadyEvent& event, const ToolTable& tool) noexcept {
  Outgoing out;
  if (!prepare(event, tool, out)) return {};
  return {send_start(out, tool), out.epoch, event.domain};
}

// Ends a span from any thread; what another attachment started is left alone.
[[gnu::always_inline]] inline void end_span(const Span& span) noexcept {
  if (span.epoch == 0) return;
  const ToolTable* tool = closing_tool();
  if (tool && tool->epoch.load(std::memory_order_acquire) == span.epoch) {
    send_end(*span.domain, span.id, *tool);
  }
}

}  // namespace nvspan::annotate
