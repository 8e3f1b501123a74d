// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/writer/work_lane.hpp"

#include "record/file/ticks.hpp"

namespace nvspan::record {
namespace {

// No program has them: handles of domains that it makes differ in the highest bits.
constexpr std::uint64_t call_domain_handle = 0x4E56'F000'0000'0001u;
constexpr std::uint64_t work_domain_handle = 0x4E56'F000'0000'0002u;

constexpr std::uint8_t device_without_payload = 1 + static_cast<int>(trace::PayloadType::none);
constexpr std::uint8_t device_with_bytes = 1 + static_cast<int>(trace::PayloadType::u64);

}  // namespace

std::uint32_t WorkLane::call_site(std::string_view name) {
  NameDefinitions& names = definitions_.names;
  const std::uint32_t domain = names.domain(call_domain_handle, call_domain);
  const NameDefinitions::Text text = names.message(name);
  if (domain == no_string || text.id == no_string) return no_site;
  trace::Event event;
  event.message_type = trace::MessageType::ascii;
  event.payload_type = trace::PayloadType::u64;
  return names.site(domain, event, text.id, 0);
}

std::uint32_t WorkLane::work_site(WorkKind kind, std::string_view name) {
  NameDefinitions& names = definitions_.names;
  const std::uint32_t domain = names.domain(work_domain_handle, work_domain);
  const NameDefinitions::Text text = names.message(name);
  if (domain == no_string || text.id == no_string) return no_site;
  trace::Event event;
  event.message_type = trace::MessageType::ascii;
  event.payload_type = trace::PayloadType::ext;
  event.category = static_cast<std::uint32_t>(kind);
  event.category_name = work_kind_text(kind);
  const bool has_bytes = kind == WorkKind::copy || kind == WorkKind::set;
  return names.site(domain, event, text.id, has_bytes ? device_with_bytes : device_without_payload);
}

void WorkLane::call(ThreadWriter& thread, std::uint32_t site, const LaunchCall& call) {
  if (!takes_events()) return;
  const std::uint64_t launch = launch_word({call.correlation, call.end - call.begin});
  entries_.put_words(thread, WordEntry{EntryKind::call, site, call.end, &launch, call_words});
}

void WorkLane::work(std::uint32_t site, const GpuWork& work) {
  if (!takes_events()) return;
  const bool has_bytes = work.kind == WorkKind::copy || work.kind == WorkKind::set;
  const std::uint64_t words[] = {launch_word({work.correlation, work.end - work.begin}),
                                 place_word(work.place), work.bytes};
  entries_.put_words(lane_.writer(), WordEntry{EntryKind::work, site, work.begin, words,
                                               work_words + (has_bytes ? 1 : 0), has_bytes});
}

void WorkLane::lose(LossReason reason, std::uint64_t count) {
  if (count == 0 || !takes_events()) return;
  const std::uint64_t now = ticks_now();
  file_.add_loss(reason, LossWindow{count, now, now});
}

}  // namespace nvspan::record
