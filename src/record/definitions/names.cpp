// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/definitions/names.hpp"

#include "record/file/ticks.hpp"

#include <cstring>

namespace nvspan::record {
namespace {

// The name of all events whose names are past the budget.
constexpr std::string_view other_names = "(other names)";

SiteDefinition definition_of(std::uint32_t domain, const trace::Event& event, std::uint32_t message,
                             std::uint8_t device) {
  SiteDefinition definition = {};
  definition.domain = domain;
  definition.message = message;
  definition.message_type = static_cast<std::uint8_t>(event.message_type);
  definition.payload_type = static_cast<std::uint8_t>(event.payload_type);
  definition.has_color = event.has_color;
  definition.color = event.has_color ? event.color : 0;
  definition.category = event.category;
  definition.device = device;
  return definition;
}

}  // namespace

void NameDefinitions::forget() noexcept {
  for (const auto& entry : strings_) {
    pool_.deallocate(const_cast<char*>(entry.second.kept), entry.first.size() + 1);
  }
  strings_.clear();
  domains_.clear();
  sites_.clear();
  next_site_ = 0;
  rests_.clear();
  budget_.restart(file_.mode(), file_.options().name_bytes);
}

NameDefinitions::Text NameDefinitions::string(std::string_view text) {
  if (text.data() == nullptr) return Text{no_string, nullptr};
  const auto found = strings_.find(text);
  if (found != strings_.end()) return found->second;
  budget_.spend(DefinitionChunk::bytes_of(sizeof(StringDefinition) + text.size()));
  return add_string(text);
}

NameDefinitions::Text NameDefinitions::message(std::string_view text) {
  if (text.data() == nullptr) return Text{no_string, nullptr};
  const auto found = strings_.find(text);
  if (found != strings_.end()) return found->second;
  if (!budget_.take(DefinitionChunk::bytes_of(sizeof(StringDefinition) + text.size()))) {
    return Text{past_budget, nullptr};
  }
  return add_string(text);
}

NameDefinitions::Text NameDefinitions::add_string(std::string_view text) {
  auto* kept = static_cast<char*>(pool_.allocate(text.size() + 1));
  std::memcpy(kept, text.data(), text.size());
  kept[text.size()] = '\0';
  const Text added{static_cast<std::uint32_t>(strings_.size()), kept};
  if (!chunk_.add(DefinitionType::string, StringDefinition{added.id, 0}, text)) {
    pool_.deallocate(kept, text.size() + 1);
    return Text{no_string, nullptr};
  }
  strings_.emplace(std::string_view(kept, text.size()), added);
  return added;
}

std::uint32_t NameDefinitions::domain(std::uint64_t handle, std::string_view name) {
  const auto found = domains_.find(handle);
  if (found != domains_.end()) return found->second;
  const Text text = string(name);
  const DomainDefinition definition{static_cast<std::uint32_t>(domains_.size()), text.id};
  if (name.data() != nullptr && text.kept == nullptr) return no_string;
  if (!chunk_.add(DefinitionType::domain, definition)) return no_string;
  domains_.emplace(handle, definition.id);
  return definition.id;
}

void NameDefinitions::thread(const ThreadDefinition& definition) {
  chunk_.add(DefinitionType::thread, definition);
}

void NameDefinitions::thread_name(std::uint32_t tid, std::string_view name) {
  chunk_.add(DefinitionType::thread_name, ThreadName{tid, string(name).id, ticks_now()});
}

void NameDefinitions::category(std::uint32_t domain, std::uint32_t category,
                               std::string_view name) {
  chunk_.add(DefinitionType::category, CategoryDefinition{domain, category, string(name).id, 0});
}

std::uint32_t NameDefinitions::site(std::uint32_t domain, const trace::Event& event,
                                    std::uint32_t message, std::uint8_t device) {
  SiteDefinition definition = definition_of(domain, event, message, device);
  const auto found = message == past_budget ? sites_.end() : sites_.find(definition);
  if (found != sites_.end()) return found->second;
  if (message == past_budget || !budget_.take(DefinitionChunk::bytes_of(sizeof definition))) {
    return other_site(SiteRest{domain, definition.payload_type, device, false});
  }
  const std::uint32_t id = add_site(definition);
  if (id == no_site) return no_site;
  if (event.category != 0 && event.category_name.data() != nullptr) {
    category(domain, event.category, event.category_name);
  }
  return id;
}

std::uint32_t NameDefinitions::shaped_site(std::uint32_t domain, const trace::Event& event,
                                           std::uint32_t message, std::uint8_t device,
                                           const LaunchShape& shape) {
  const std::uint32_t plain = site(domain, event, message, device);
  SiteDefinition definition = definition_of(domain, event, message, device);
  const std::size_t bytes = DefinitionChunk::bytes_of(sizeof definition) +
                            DefinitionChunk::bytes_of(sizeof(LaunchShapeDefinition));
  if (plain == no_site || message == past_budget || !budget_.take(bytes)) return plain;
  if (define_site(definition) == no_site) return plain;
  chunk_.add(DefinitionType::launch_shape, LaunchShapeDefinition{definition.id, shape});
  return definition.id;
}

std::uint32_t NameDefinitions::define_site(SiteDefinition& definition) {
  definition.id = next_site_;
  if (!chunk_.add(DefinitionType::site, definition)) return no_site;
  return next_site_++;
}

std::uint32_t NameDefinitions::add_site(SiteDefinition& definition) {
  if (define_site(definition) == no_site) return no_site;
  if (file_.mode() == RecordMode::stats) {
    if (rests_.size() <= definition.id) rests_.resize(definition.id + 1);
    rests_[definition.id] = SiteRest{definition.domain, definition.payload_type, definition.device,
                                     definition.message_type == message_of_others};
  }
  sites_.emplace(definition, definition.id);
  return definition.id;
}

// The site of all names of a domain that are past the budget; it keeps the fields that a reader of
// payloads needs.
std::uint32_t NameDefinitions::other_site(const SiteRest& rest) {
  SiteDefinition definition = {};
  definition.domain = rest.domain;
  definition.message = string(other_names).id;
  definition.message_type = message_of_others;
  definition.payload_type = rest.payload_type;
  definition.device = rest.device;
  if (definition.message == no_string) return no_site;
  const auto found = sites_.find(definition);
  if (found != sites_.end()) return found->second;
  budget_.spend(DefinitionChunk::bytes_of(sizeof definition));
  return add_site(definition);
}

std::uint32_t NameDefinitions::counted_site(std::uint32_t site, std::size_t bytes) {
  if (rests_[site].other) {
    budget_.spend(bytes);
    return site;
  }
  return budget_.take(bytes) ? site : other_site(rests_[site]);
}

}  // namespace nvspan::record
