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

constexpr bool has_bytes(WorkKind kind) { return kind == WorkKind::copy || kind == WorkKind::set; }

trace::Event work_event(WorkKind kind) {
  trace::Event event;
  event.message_type = trace::MessageType::ascii;
  event.payload_type = trace::PayloadType::ext;
  event.category = static_cast<std::uint32_t>(kind);
  event.category_name = work_kind_text(kind);
  return event;
}

}  // namespace

std::uint32_t WorkLane::site(std::uint64_t domain, std::string_view domain_name,
                             std::string_view name, const trace::Event& event, std::uint8_t device,
                             const LaunchShape* shape) {
  NameDefinitions& names = definitions_.names;
  const std::uint32_t of_domain = names.domain(domain, domain_name);
  const NameDefinitions::Text text = names.message(name);
  if (of_domain == no_string || text.id == no_string) return no_site;
  if (shape != nullptr) return names.shaped_site(of_domain, event, text.id, device, *shape);
  return names.site(of_domain, event, text.id, device);
}

std::uint32_t WorkLane::call_site(std::string_view name) {
  trace::Event event;
  event.message_type = trace::MessageType::ascii;
  event.payload_type = trace::PayloadType::u64;
  return site(call_domain_handle, call_domain, name, event, 0);
}

std::uint32_t WorkLane::work_site(WorkKind kind, std::string_view name) {
  return site(work_domain_handle, work_domain, name, work_event(kind),
              has_bytes(kind) ? device_with_bytes : device_without_payload);
}

std::uint32_t WorkLane::kernel_site(std::string_view name, const LaunchShape& shape) {
  return site(work_domain_handle, work_domain, name, work_event(WorkKind::kernel),
              device_without_payload, &shape);
}

void WorkLane::call(ThreadWriter& thread, std::uint32_t site, const LaunchCall& call) {
  if (!keeps_events(file_.mode())) return;
  const std::uint64_t launch = launch_word({call.correlation, call.end - call.begin});
  entries_.put_words(thread, WordEntry{EntryKind::call, site, call.end, &launch, call_words});
}

void WorkLane::work(std::uint32_t site, const GpuWork& work) {
  if (!keeps_events(file_.mode())) return;
  const bool with_bytes = has_bytes(work.kind) || work.node != 0;
  const std::uint64_t place = place_word(work.place);
  const std::uint64_t words[] = {launch_word({work.correlation, work.end - work.begin}),
                                 work.node == 0 ? place : place | has_node_word,
                                 work.node == 0 ? work.bytes : node_word(work.node, work.bytes)};
  entries_.put_words(lane_.writer(), WordEntry{EntryKind::work, site, work.begin, words,
                                               work_words + (with_bytes ? 1 : 0), with_bytes});
}

void WorkLane::memory(std::string_view name, const MemoryUse& use, std::uint64_t ticks) {
  if (!keeps_events(file_.mode())) return;
  trace::PayloadBlob blob;
  const trace::Event event = memory_event(name, use, blob);
  lane_.mark(event.domain_handle, event, ticks);
}

void WorkLane::graph_node(const GraphNodeDefinition& node) {
  if (keeps_events(file_.mode())) definitions_.chunk.add(DefinitionType::graph_node, node);
}

void WorkLane::gpu(GpuLimitsDefinition limits, std::string_view name) {
  if (!keeps_events(file_.mode())) return;
  limits.name = definitions_.names.string(name).id;
  definitions_.chunk.add(DefinitionType::gpu_limits, limits);
}

void WorkLane::lose(LossReason reason, std::uint64_t count, std::uint64_t since) {
  if (count == 0 || !keeps_events(file_.mode())) return;
  const LossWindow loss{count, since, ticks_now()};
  file_.add_loss(reason, loss);
  if (reason != LossReason::tool_dropped) return;
  add_gap(WorkGapDefinition{loss.from, loss.to, static_cast<std::uint32_t>(GapReason::dropped), 0});
}

bool WorkLane::add_gap(const WorkGapDefinition& gap) {
  if (!keeps_events(file_.mode()) || gaps_ > most_gaps) return false;
  WorkGapDefinition written = gap;
  if (++gaps_ > most_gaps) written.to = 0;
  return definitions_.chunk.add(DefinitionType::work_gap, written);
}

void WorkLane::begin_gap(GapReason reason) {
  const auto number = static_cast<std::uint32_t>(reason);
  if (gap_.from != 0 && gap_.reason == number) return;
  const std::uint64_t now = ticks_now();
  end_gap(now);
  gap_ = WorkGapDefinition{now, 0, number, 0};
  add_gap(gap_);
}

void WorkLane::end_gap(std::uint64_t now) {
  if (gap_.from == 0) return;
  gap_.to = now;
  add_gap(gap_);
  gap_ = WorkGapDefinition{};
}

void WorkLane::forget() noexcept {
  gap_ = WorkGapDefinition{};
  gaps_ = 0;
}

}  // namespace nvspan::record
