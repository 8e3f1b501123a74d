// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// Turns a file's numbers into those of the Recording, once all its definitions are read.

#include "core/key_order.hpp"
#include "reader/file/loading.hpp"
#include "reader/file/schemas.hpp"
#include "trace/event/event.hpp"

#include <algorithm>

namespace nvspan::reader {
namespace {

constexpr std::uint8_t number_of(trace::MessageType type) {
  return static_cast<std::uint8_t>(type);
}
constexpr std::uint8_t number_of(trace::PayloadType type) {
  return static_cast<std::uint8_t>(type);
}
constexpr std::uint8_t ascii_message = number_of(trace::MessageType::ascii);
constexpr std::uint8_t last_message_type = number_of(trace::MessageType::registered);
constexpr std::uint8_t extended_payload = number_of(trace::PayloadType::ext);
constexpr std::uint8_t last_payload_type = number_of(trace::PayloadType::unknown);

}  // namespace

std::uint32_t Recording::domain_named(std::int32_t name) {
  const auto found = domain_ids_.emplace(name, static_cast<std::uint32_t>(domains_.size()));
  if (found.second) domains_.push_back(name);
  return found.first->second;
}

std::uint32_t Recording::domain_of(const Loading& loading, std::uint32_t local) {
  const auto& known = loading.process.domains;
  return local < known.size() ? known[local] : domain_named(no_name);
}

ReadSite Recording::site_of(const Loading& loading, const record::SiteDefinition& read) {
  ReadSite site;
  site.domain = domain_of(loading, read.domain);
  site.local_domain = read.domain;
  site.name = loading.text(read.message);
  site.is_others = read.message_type == record::message_of_others;
  site.message_type =
      site.is_others ? ascii_message : std::min<std::uint8_t>(read.message_type, last_message_type);
  site.payload_type = std::min(read.payload_type, last_payload_type);
  site.has_color = read.has_color != 0;
  if (site.payload_type == extended_payload) {
    site.device = std::min<std::uint8_t>(read.device, 1 + extended_payload);
  }
  site.color = read.color;
  site.category = read.category;
  const auto category = loading.categories.find({read.domain, read.category});
  if (category != loading.categories.end()) site.category_name = category->second;
  // A range called "backward" is the whole pass, whatever its category.
  const auto is_backward = [&](std::int32_t name) { return text(name) == "backward"; };
  site.backward = is_backward(site.category_name) && !is_backward(site.name);
  site.stretch = nvtx::stretch_of(text(domains()[site.domain]), text(site.category_name));
  return site;
}

void Recording::resolve_sites(Loading& loading) {
  for (const record::SiteDefinition& read : loading.sites) {
    if (read.id == no_definition) {
      loading.process.sites.push_back(unknown_site);
      continue;
    }
    loading.process.sites.push_back(static_cast<std::uint32_t>(sites_.size()));
    sites_.push_back(site_of(loading, read));
    const auto shape = loading.shapes.find(read.id);
    if (shape == loading.shapes.end()) continue;
    sites_.back().shape = static_cast<std::uint32_t>(shapes_.size());
    shapes_.push_back(shape->second);
  }
}

void Recording::resolve_counters(Loading& loading) {
  ReadProcess& process = loading.process;
  for (const record::CounterDefinition& read : loading.counters) {
    process.counters.push_back(static_cast<std::uint32_t>(counters_.size()));
    ReadCounter counter;
    counter.domain = domain_of(loading, read.domain);
    counter.name = loading.text(read.name);
    counter.id = read.counter;
    counters_.push_back(counter);
  }
  for (const auto& [number, read] : loading.meanings) {
    if (number >= loading.counters.size()) continue;
    const ReadCounter base = counters_[process.counters[number]];
    const std::int32_t unit = loading.text(read.meaning.unit);
    counters_[process.counters[number]].unit = unit;
    ReadGroup group;
    const auto fields = fields_of_group(process.schemas->table, loading.counters[number].domain,
                                        read.schema, group.size);
    for (const GroupField& field : fields) {
      std::uint32_t of = number;
      if (!field.name.empty()) {
        of = static_cast<std::uint32_t>(process.counters.size());
        process.counters.push_back(static_cast<std::uint32_t>(counters_.size()));
        ReadCounter part = base;
        part.field = intern(field.name);
        part.unit = field.unit.unit.data() == nullptr ? unit : intern(field.unit.unit);
        counters_.push_back(part);
      }
      group.parts.push_back(ReadGroup::Part{of, field.type, field.offset});
    }
    process.groups.emplace(number, std::move(group));
  }
}

void Recording::resolve_threads(Loading& loading) {
  const bool checked = loading.is_checked();
  for (const auto& entry : loading.threads) {
    ReadThread& thread = threads_[entry.second];
    core::stable_sort_by(thread.chunks.begin(), thread.chunks.end(), [&](const ReadChunk& chunk) {
      return checked ? chunk.number : chunk.sequence;
    });
    if (!thread.chunks.empty() && thread.chunks.back().end_ticks != 0) {
      thread.exited = true;
      thread.end_ticks = thread.chunks.back().end_ticks;
    }
    if (!thread.defined && !thread.chunks.empty()) {
      thread.start_ticks = thread.chunks.front().base_ticks;
    }
  }
}

// A number is used again by a later thread: a name belongs to whoever lived when it was given.
void Recording::resolve_thread_names(Loading& loading) {
  std::unordered_multimap<std::uint32_t, std::uint32_t> by_tid;
  if (!loading.thread_names.empty()) {
    for (const auto& entry : loading.threads) {
      by_tid.emplace(threads_[entry.second].tid, entry.second);
    }
  }
  for (const record::ThreadName& name : loading.thread_names) {
    ReadThread* best = nullptr;
    const auto candidates = by_tid.equal_range(name.tid);
    for (auto at = candidates.first; at != candidates.second; ++at) {
      ReadThread& thread = threads_[at->second];
      const bool began = thread.start_ticks <= name.ticks;
      if (best == nullptr || (began && thread.start_ticks >= best->start_ticks) ||
          (!began && best->start_ticks > thread.start_ticks)) {
        best = &thread;
      }
    }
    if (best != nullptr) best->name = loading.text(name.name);
  }
}

void Recording::resolve_losses(const Loading& loading) {
  const ReadProcess& process = loading.process;
  const auto add = [&](const record::LossWindow& loss, record::LossReason reason) {
    if (loss.count == 0) return;
    ReadLoss lost;
    lost.process = loading.index;
    lost.from = process.time(loss.from);
    lost.to = process.time(loss.to);
    lost.count = loss.count;
    lost.reason = loss_reason_text(reason);
    losses_.push_back(lost);
  };
  add(process.header.loss, record::LossReason::no_space);
  for (std::uint32_t reason = 0; reason < record::loss_reasons; ++reason) {
    add(process.header.losses[reason], static_cast<record::LossReason>(reason));
  }
}

void Recording::resolve(Loading& loading) {
  if (domains_.empty()) domain_named(no_name);  // for what has no definition
  for (const std::int32_t name : loading.domain_names) {
    loading.process.domains.push_back(domain_named(name));
  }
  resolve_sites(loading);
  resolve_counters(loading);
  resolve_threads(loading);
  resolve_thread_names(loading);
  resolve_losses(loading);
}

}  // namespace nvspan::reader
