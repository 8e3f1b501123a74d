// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/thread/thread_sites.hpp"

namespace nvspan::record {
namespace {

constexpr std::uint32_t plain_message = 1;  // SiteKey::message_type

}  // namespace

DomainCell* ThreadSites::cell(ThreadWriter& writer, std::uint64_t handle, std::string_view name) {
  if (DomainCell* found = writer.find_domain(handle)) return found;
  const std::uint32_t id = definitions_.names.domain(handle, name);
  if (id == no_string) return nullptr;
  DomainCell* place = nullptr;
  if (writer.domain_count < ThreadWriter::most_domains) {
    place = writer.domains + writer.domain_count++;
  } else {
    for (DomainCell& cell : writer.domains) {
      if (cell.depth == 0) place = &cell;
    }
    if (place == nullptr) return nullptr;
    for (CachedSite& site : writer.cache) {
      if (site.domain == place) site.used = false;
    }
  }
  *place = DomainCell{handle, id, 0, false};
  return place;
}

ThreadSites::Domain ThreadSites::domain(ThreadWriter& writer, std::uint64_t handle,
                                        std::string_view name) {
  DomainCell* found = cell(writer, handle, name);
  return Domain{found, found != nullptr ? found->id : definitions_.names.domain(handle, name)};
}

bool ThreadSites::make_own_texts(ThreadWriter& writer) noexcept {
  if (writer.own_texts != nullptr) return true;
  try {
    writer.own_texts = static_cast<char*>(
        pool_.allocate(ThreadWriter::cache_sites * ThreadWriter::own_text_bytes));
  } catch (...) {
    return false;
  }
  return true;
}

ThreadSites::Subject ThreadSites::subject(ThreadWriter& writer, std::uint64_t handle,
                                          const trace::Event& event, const SiteKey* key) {
  definitions_.chunk.clear_failed();
  if (event.payload_type == trace::PayloadType::ext && file_.mode() != RecordMode::stats) {
    definitions_.payloads.describe(event);
  }
  const Domain place = domain(writer, handle, event.domain);
  Subject subject{no_site, place.cell, place.id, StretchKind::none};
  if (event.category != 0 && event.payload_type == trace::PayloadType::u64) {
    subject.stretch = nvtx::stretch_of(event.domain, event.category_name);
  }
  const NameDefinitions::Text text = definitions_.names.message(event.message);
  if (definitions_.chunk.has_failed()) return subject;
  subject.site =
      definitions_.names.site(place.id, event, text.id, definitions_.devices.device_of(event));
  if (subject.site == no_site || key == nullptr || place.cell == nullptr) return subject;
  // The address of a plain message does not identify it without the text.
  if (text.id != NameDefinitions::past_budget || key->message_type() != plain_message) {
    writer.remember(*key, text.kept, place.cell, subject.site, subject.stretch);
  } else if (event.message.size() < ThreadWriter::own_text_bytes && make_own_texts(writer)) {
    writer.remember_copy(*key, event.message, place.cell, subject.site, subject.stretch);
  }
  return subject;
}

void ThreadSites::hide(ThreadWriter& writer, std::uint64_t handle, const SiteKey* key) {
  DomainCell* place = cell(writer, handle, "");
  if (place == nullptr) return;
  place->hidden = true;
  const bool by_text = key != nullptr && key->message_type() == plain_message;
  if (key != nullptr && !by_text) writer.remember(*key, nullptr, place, 0);
}

}  // namespace nvspan::record
