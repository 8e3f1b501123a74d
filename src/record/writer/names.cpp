// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a recording's entries refer to by number: each is in the file before the first entry that
// names it.

#include "record/file/checksum.hpp"
#include "record/writer/recorder.hpp"

#include <algorithm>
#include <cstring>

namespace nvspan::record {
namespace {

constexpr std::size_t definition_chunk = 4 * 1024;
constexpr std::size_t largest_definition_chunk = 1024 * 1024;
constexpr std::uint32_t past_budget = no_string - 1;  // of a text that was not kept
constexpr std::uint32_t plain_message = 1;            // SiteKey::message_type

std::size_t in_words(std::size_t bytes) {
  return (bytes + sizeof(std::uint64_t) - 1) / sizeof(std::uint64_t) * sizeof(std::uint64_t);
}

std::size_t bytes_of_definition(std::size_t bytes) {
  return sizeof(std::uint64_t) + in_words(bytes);
}

std::string_view field_text(const trace::Event& event, std::string_view key) {
  for (std::size_t i = 0; i < event.field_count; ++i) {
    if (key == event.fields[i].key) return event.fields[i].text;
  }
  return {};
}

const trace::Field* find_field(const trace::Event& event, std::string_view key) {
  for (std::size_t i = 0; i < event.field_count; ++i) {
    if (key == event.fields[i].key) return event.fields + i;
  }
  return nullptr;
}

}  // namespace

std::size_t Recorder::Hash::operator()(const SiteDefinition& site) const noexcept {
  std::uint64_t hash = (std::uint64_t{site.domain} << 32 | site.message) * 0x9E3779B97F4A7C15u;
  hash ^= (std::uint64_t{site.color} << 32 | site.category) * 0xC2B2AE3D27D4EB4Fu;
  hash ^= static_cast<std::uint64_t>(site.device) << 24 |
          static_cast<std::uint64_t>(site.message_type) << 16 | site.payload_type << 8 |
          site.has_color;
  return static_cast<std::size_t>(hash ^ hash >> 31);
}

bool Recorder::Same::operator()(const SiteDefinition& a, const SiteDefinition& b) const noexcept {
  return a.domain == b.domain && a.message == b.message && a.message_type == b.message_type &&
         a.payload_type == b.payload_type && a.has_color == b.has_color && a.color == b.color &&
         a.category == b.category && a.device == b.device;
}

void Recorder::forget_names() noexcept {
  for (const auto& entry : strings_) {
    pool_.deallocate(const_cast<char*>(entry.second.kept), entry.first.size() + 1);
  }
  strings_.clear();
  domains_.clear();
  sites_.clear();
  rests_.clear();
  budget_.restart(mode_, name_bytes_);
  counters_.clear();
  device_schemas_.clear();
  described_.clear();
  cited_.clear();
  definition_chunk_ = nullptr;
  definitions_ = nullptr;
  definitions_left_ = 0;
}

bool Recorder::define(DefinitionType type, const void* data, std::size_t bytes,
                      std::string_view text) {
  const std::size_t size = bytes + text.size();
  const std::size_t needed = sizeof(std::uint64_t) + in_words(size);
  if (needed + sizeof(std::uint64_t) > definitions_left_) {
    const std::size_t usual = std::min(
        definition_chunk << std::min<std::uint64_t>(sequence_ / 4, 8), largest_definition_chunk);
    guard_faults();
    if (notice_cut() || exhausted_) {
      undefined_ = true;
      return false;
    }
    std::size_t wanted = std::max(usual, needed + sizeof(ChunkHeader) + sizeof(std::uint64_t));
    char* made = allocate(wanted);
    if (made == nullptr) {
      report(segment_.error());
      undefined_ = true;
      return false;
    }
    auto* chunk = reinterpret_cast<ChunkHeader*>(made);
    start_chunk(chunk, ChunkKey{ChunkType::definitions},
                (wanted + chunk_alignment - 1) / chunk_alignment * chunk_alignment);
    seal_definitions();
    definition_chunk_ = chunk;
    definitions_ = made + sizeof(ChunkHeader);
    definitions_left_ = wanted - sizeof(ChunkHeader);
  }
  if (definition_chunk_->used != 0) unseal(definition_chunk_);
  char* at = definitions_;
  std::memcpy(at + sizeof(std::uint64_t), data, bytes);
  if (!text.empty()) std::memcpy(at + sizeof(std::uint64_t) + bytes, text.data(), text.size());
  const auto offset = static_cast<std::size_t>(at - reinterpret_cast<char*>(definition_chunk_));
  reinterpret_cast<std::atomic<std::uint64_t>*>(at)->store(
      definition_word(type, size, definition_chunk_->sequence, offset, at + sizeof(std::uint64_t),
                      in_words(size) / sizeof(std::uint64_t)),
      std::memory_order_release);
  definitions_ += needed;
  definitions_left_ -= needed;
  return true;
}

// Past the budget, where that counts: `past_budget`.
Recorder::Text Recorder::string(std::string_view text, bool within_budget) {
  if (text.data() == nullptr) return Text{no_string, nullptr};
  const auto found = strings_.find(text);
  if (found != strings_.end()) return found->second;
  const std::size_t bytes = bytes_of_definition(sizeof(StringDefinition) + text.size());
  if (!within_budget) {
    budget_.spend(bytes);
  } else if (!budget_.take(bytes)) {
    return Text{past_budget, nullptr};
  }
  auto* kept = static_cast<char*>(pool_.allocate(text.size() + 1));
  std::memcpy(kept, text.data(), text.size());
  kept[text.size()] = '\0';
  const Text made{static_cast<std::uint32_t>(strings_.size()), kept};
  const StringDefinition definition{made.id, 0};
  if (!define(DefinitionType::string, &definition, sizeof definition, text)) {
    pool_.deallocate(kept, text.size() + 1);
    return Text{no_string, nullptr};
  }
  strings_.emplace(std::string_view(kept, text.size()), made);
  return made;
}

std::uint32_t Recorder::domain(std::uint64_t handle, std::string_view name) {
  const auto found = domains_.find(handle);
  if (found != domains_.end()) return found->second;
  const Text text = string(name);
  const DomainDefinition definition{static_cast<std::uint32_t>(domains_.size()), text.id};
  if (name.data() != nullptr && text.kept == nullptr) return no_string;
  if (!define(DefinitionType::domain, &definition, sizeof definition)) return no_string;
  domains_.emplace(handle, definition.id);
  return definition.id;
}

DomainCell* Recorder::cell(ThreadWriter& writer, std::uint64_t handle, std::string_view name) {
  if (DomainCell* found = writer.find_domain(handle)) return found;
  const std::uint32_t id = domain(handle, name);
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

std::uint32_t Recorder::site(std::uint32_t domain_id, const trace::Event& event,
                             std::uint32_t message) {
  SiteDefinition definition = {};
  definition.domain = domain_id;
  definition.message = message;
  definition.message_type = static_cast<std::uint8_t>(event.message_type);
  definition.payload_type = static_cast<std::uint8_t>(event.payload_type);
  definition.has_color = event.has_color;
  definition.color = event.has_color ? event.color : 0;
  definition.category = event.category;
  definition.device = device_site(event);
  const auto found = message == past_budget ? sites_.end() : sites_.find(definition);
  if (found != sites_.end()) return found->second;
  if (message == past_budget || !budget_.take(bytes_of_definition(sizeof definition))) {
    return other_site(SiteRest{domain_id, definition.payload_type, definition.device, false});
  }
  const std::uint32_t made = add_site(definition);
  if (made == no_site) return no_site;
  if (event.category != 0 && event.category_name.data() != nullptr) {
    const CategoryDefinition category{domain_id, event.category, string(event.category_name).id, 0};
    define(DefinitionType::category, &category, sizeof category);
  }
  return made;
}

std::uint32_t Recorder::add_site(SiteDefinition& definition) {
  definition.id = static_cast<std::uint32_t>(sites_.size());
  if (!define(DefinitionType::site, &definition, sizeof definition)) return no_site;
  const bool other = definition.message_type == message_of_others;
  if (mode_ == RecordMode::stats) {
    if (rests_.size() <= definition.id) rests_.resize(definition.id + 1);
    rests_[definition.id] =
        SiteRest{definition.domain, definition.payload_type, definition.device, other};
  }
  sites_.emplace(definition, definition.id);
  return definition.id;
}

// The site of all names of a domain that are past the budget; what a reader of payloads has to know
// of a site stays.
std::uint32_t Recorder::other_site(const SiteRest& rest) {
  SiteDefinition definition = {};
  definition.domain = rest.domain;
  definition.message = string(other_names).id;
  definition.message_type = message_of_others;
  definition.payload_type = rest.payload_type;
  definition.device = rest.device;
  if (definition.message == no_string) return no_site;
  const auto found = sites_.find(definition);
  if (found != sites_.end()) return found->second;
  budget_.spend(bytes_of_definition(sizeof definition));
  return add_site(definition);
}

// The site under which a thread counts an event of `site` that it has no cell for.
std::uint32_t Recorder::counted_site(ThreadWriter& writer, std::uint32_t site, EntryKind kind) {
  if (writer.stats.find(StatsTable::key_of(site, kind)) != nullptr) return site;
  constexpr std::size_t bytes = sizeof(StatsCell) + sizeof(StatsBlock);
  if (rests_[site].other) {
    budget_.spend(bytes);
    return site;
  }
  return budget_.take(bytes) ? site : other_site(rests_[site]);
}

bool Recorder::make_own_texts(ThreadWriter& writer) noexcept {
  if (writer.own_texts != nullptr) return true;
  try {
    writer.own_texts = static_cast<char*>(
        pool_.allocate(ThreadWriter::cache_sites * ThreadWriter::own_text_bytes));
  } catch (...) {
    return false;
  }
  return true;
}

Recorder::Subject Recorder::subject(ThreadWriter& writer, std::uint64_t handle,
                                    const trace::Event& event, const SiteKey* key) {
  undefined_ = false;
  if (event.payload_type == trace::PayloadType::ext && mode_ != RecordMode::stats) describe(event);
  Subject made = {};
  made.domain = cell(writer, handle, event.domain);
  made.domain_id = made.domain != nullptr ? made.domain->id : domain(handle, event.domain);
  const Text text = string(event.message, true);
  made.site = undefined_ ? no_site : site(made.domain_id, event, text.id);
  if (made.site == no_site) return made;
  if (key == nullptr || made.domain == nullptr) return made;
  // The address of a plain message says nothing without the text.
  if (text.id != past_budget || key->message_type() != plain_message) {
    writer.remember(*key, text.kept, made.domain, made.site);
  } else if (event.message.size() < ThreadWriter::own_text_bytes && make_own_texts(writer)) {
    writer.remember_copy(*key, event.message, made.domain, made.site);
  }
  return made;
}

void Recorder::hide(ThreadWriter& writer, std::uint64_t handle, const SiteKey* key) {
  DomainCell* place = cell(writer, handle, "");
  if (place == nullptr) return;
  place->hidden = true;
  const bool by_text = key != nullptr && key->message_type() == 1;
  if (key != nullptr && !by_text) writer.remember(*key, nullptr, place, 0);
}

std::uint32_t Recorder::counter(std::uint64_t handle, std::string_view domain_name,
                                std::uint64_t id, std::string_view name) {
  const trace::DomainKey key{handle, id};
  const auto found = counters_.find(key);
  if (found != counters_.end()) return found->second;
  undefined_ = false;
  const CounterDefinition definition{static_cast<std::uint32_t>(counters_.size()),
                                     domain(handle, domain_name), id, string(name).id, 0};
  if (undefined_ || !define(DefinitionType::counter, &definition, sizeof definition)) {
    return no_site;
  }
  counters_.emplace(key, definition.id);
  describe_counter(handle, domain_name, id, definition.id);
  return definition.id;
}

void Recorder::name_thread(std::uint32_t tid, std::string_view name) {
  const ThreadName definition{tid, string(name).id, ticks_now()};
  define(DefinitionType::thread_name, &definition, sizeof definition);
}

void Recorder::name_category(std::uint64_t handle, std::string_view domain_name,
                             std::uint32_t category, std::string_view name) {
  const CategoryDefinition definition{domain(handle, domain_name), category, string(name).id, 0};
  define(DefinitionType::category, &definition, sizeof definition);
}

bool Recorder::EventLine::write(const char* data, std::size_t size) noexcept {
  if (size != 0 && data[size - 1] == '\n') --size;
  if (owner_.naming_ && !owner_.budget_.take(bytes_of_definition(size))) {
    owner_.refused_ = true;
    return true;
  }
  if (!owner_.define(DefinitionType::event, data, size)) owner_.lose_call();
  return true;
}

// A call that only names something, and so is past the budget with its name.
bool Recorder::keep_name(const trace::Event& event) {
  naming_ = true;
  refused_ = false;
  const bool written = events_.write(event);
  naming_ = false;
  if (refused_) {
    const std::uint64_t now = ticks_now();
    add_loss(LossReason::name_budget, LossWindow{1, now, now});
    return written;
  }
  if (event.kind != trace::EventKind::name_category) return written;
  if (const trace::Field* category = find_field(event, "category")) {
    name_category(event.domain_handle, event.domain,
                  static_cast<std::uint32_t>(category->unsigned_integer),
                  field_text(event, "name"));
  }
  return written;
}

bool Recorder::write(const trace::Event& event) {
  // A sample is no statistic: a chunk of these has no place for it.
  if (event.kind == trace::EventKind::counter_sample && mode_ == RecordMode::stats) return true;
  if (event.kind == trace::EventKind::counter_sample && current_ != nullptr) {
    const trace::Field* id = find_field(event, "counter");
    const trace::Field* value = find_field(event, "value");
    const trace::Field* none = find_field(event, "no_value");
    if (id != nullptr && (value != nullptr || none != nullptr)) {
      const std::uint32_t subject = counter(event.domain_handle, event.domain, id->unsigned_integer,
                                            field_text(event, "name"));
      const bool real = value != nullptr && value->type == trace::FieldType::real;
      const EntryKind kind = value == nullptr ? EntryKind::counter_none
                             : real           ? EntryKind::counter_f64
                                              : EntryKind::counter_i64;
      std::uint64_t bits = 0;
      std::memcpy(&bits, value == nullptr ? &none->unsigned_integer : &value->unsigned_integer,
                  sizeof bits);
      put(*current_, kind, subject, ticks_now(), &bits, 1, nullptr);
      return true;
    }
    if (id != nullptr && !event.rows.empty()) {
      const std::uint32_t subject = counter(event.domain_handle, event.domain, id->unsigned_integer,
                                            field_text(event, "name"));
      put_samples(*current_, event, subject, ticks_now());
      return true;
    }
  }
  if (event.kind == trace::EventKind::scope_register) {
    if (const trace::Field* id = find_field(event, "id")) keep_scope(event, id->unsigned_integer);
  }
  if (event.kind == trace::EventKind::name_thread) {
    if (const trace::Field* thread = find_field(event, "thread")) {
      name_thread(static_cast<std::uint32_t>(thread->unsigned_integer), field_text(event, "name"));
    }
  }
  if (event.kind == trace::EventKind::register_string ||
      event.kind == trace::EventKind::name_category) {
    return keep_name(event);
  }
  if (event.kind == trace::EventKind::schema_register) keep_device_schema(event);
  if (event.kind == trace::EventKind::name_cuda ||
      event.kind == trace::EventKind::resource_create) {
    keep_device_name(event);
  }
  return events_.write(event);
}

}  // namespace nvspan::record
