// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

#include "record/definitions/payloads.hpp"

#include "trace/sinks/payload_text.hpp"

namespace nvspan::record {
namespace {

constexpr unsigned most_depth = trace::most_payload_depth + 1;

// True once for each version: the caller writes it.
template <typename Map>
bool is_new(Map& map, const trace::DomainKey& key, std::uint64_t version) {
  std::uint64_t& known = map[key];
  if (known == version) return false;
  known = version;
  return true;
}

}  // namespace

// Writes the definition of each string or category that a payload cites.
class PayloadDefinitions::CitedNames final : public trace::PayloadNames {
 public:
  CitedNames(PayloadDefinitions& owner, std::uint32_t domain) : owner_(owner), domain_(domain) {}

  std::string_view string(std::uint64_t domain, std::uint64_t handle) const override {
    const std::string_view found = owner_.payload_names_.string(domain, handle);
    if (found.data() != nullptr && is_new(owner_.cited_, trace::DomainKey{0, handle}, 1)) {
      owner_.chunk_.add(DefinitionType::cited_string,
                        CitedString{handle, owner_.names_.string(found).id, 0});
    }
    return found;
  }
  std::string_view category(std::uint64_t domain, std::uint32_t number) const override {
    const std::string_view found = owner_.payload_names_.category(domain, number);
    if (found.data() != nullptr &&
        is_new(owner_.cited_, trace::DomainKey{std::uint64_t{domain_} + 1, number}, 1)) {
      owner_.names_.category(domain_, number, found);
    }
    return found;
  }

 private:
  PayloadDefinitions& owner_;
  std::uint32_t domain_;
};

void PayloadDefinitions::forget() noexcept {
  counters_.clear();
  described_.clear();
  cited_.clear();
}

void PayloadDefinitions::describe(const trace::Event& event) {
  bool cites = false;
  for (std::size_t i = 0; i < event.blob_count; ++i) {
    const std::uint64_t id = event.blobs[i].schema_id;
    if (id < nvtx::entry_type::first_custom) {
      cites =
          cites || id == nvtx::entry_type::registered_string || id == nvtx::entry_type::category;
      continue;
    }
    const trace::PayloadSchema* known = schemas_.schema(event.domain_handle, id);
    cites = cites || (known != nullptr && known->cites_names);
    define_type(event.domain_handle, event.domain, id, 0);
  }
  if (cites) cite(event);
}

void PayloadDefinitions::cite(const trace::Event& event) {
  const core::PoolVector<trace::PayloadPiece>& pieces = trace::pieces_of(event, decoder_);
  const CitedNames names(*this, names_.domain(event.domain_handle, event.domain));
  trace::PayloadVisitor nobody;
  decoder_.decode({event.domain_handle, names, nobody}, pieces.data(), pieces.size());
}

void PayloadDefinitions::define_type(std::uint64_t handle, std::string_view domain_name,
                                     std::uint64_t id, unsigned depth) {
  if (id < nvtx::entry_type::first_custom || depth > most_depth) return;
  const trace::DomainKey key{handle, id};
  if (const trace::PayloadSchema* schema = schemas_.schema(handle, id)) {
    if (!is_new(described_, key, schema->version)) return;
    for (std::size_t i = 0; i < schema->count; ++i) {
      define_type(handle, domain_name, schema->entries[i].type, depth + 1);
    }
    write_schema(names_.domain(handle, domain_name), *schema);
  } else if (const trace::PayloadEnum* known = schemas_.enumeration(handle, id)) {
    if (is_new(described_, key, known->version)) {
      write_enum(names_.domain(handle, domain_name), *known);
    }
  }
}

void PayloadDefinitions::write_schema(std::uint32_t domain, const trace::PayloadSchema& schema) {
  core::PoolVector<SchemaEntryDefinition> entries(pool_);
  entries.reserve(schema.count);
  for (std::size_t i = 0; i < schema.count; ++i) {
    const trace::PayloadEntry& from = schema.entries[i];
    SchemaEntryDefinition definition = {};
    definition.flags = from.flags;
    definition.type = from.type;
    definition.detail = from.detail;
    definition.offset = from.offset;
    definition.name = names_.string(from.name).id;
    definition.meaning = meaning_of(from.unit);
    entries.push_back(definition);
  }
  SchemaDefinition definition = {};
  definition.schema = schema.id;
  definition.type = schema.type;
  definition.flags = schema.flags;
  definition.size = schema.size;
  definition.pack = schema.pack;
  definition.domain = domain;
  definition.name = names_.string(schema.name).id;
  chunk_.add(DefinitionType::schema, definition,
             std::string_view(reinterpret_cast<const char*>(entries.data()),
                              entries.size() * sizeof(SchemaEntryDefinition)));
}

void PayloadDefinitions::write_enum(std::uint32_t domain, const trace::PayloadEnum& known) {
  core::PoolVector<EnumValueDefinition> values(pool_);
  values.reserve(known.count);
  for (std::size_t i = 0; i < known.count; ++i) {
    const trace::PayloadEnumValue& from = known.values[i];
    values.push_back(EnumValueDefinition{from.value, names_.string(from.name).id, from.is_flag});
  }
  const EnumDefinition definition{known.id, known.size, domain, names_.string(known.name).id};
  chunk_.add(DefinitionType::enumeration, definition,
             std::string_view(reinterpret_cast<const char*>(values.data()),
                              values.size() * sizeof(EnumValueDefinition)));
}

MeaningDefinition PayloadDefinitions::meaning_of(const trace::CounterUnit& unit) {
  MeaningDefinition definition = {};
  definition.unit = names_.string(unit.unit).id;
  definition.limit_type = static_cast<std::uint32_t>(unit.limit_type);
  definition.flags = unit.flags;
  definition.scale_numerator = unit.scale_numerator;
  definition.scale_denominator = unit.scale_denominator;
  definition.min_bits = unit.min_bits;
  definition.max_bits = unit.max_bits;
  return definition;
}

std::uint32_t PayloadDefinitions::counter(std::uint64_t handle, std::string_view domain_name,
                                          std::uint64_t id, std::string_view name) {
  const trace::DomainKey key{handle, id};
  const auto found = counters_.find(key);
  if (found != counters_.end()) return found->second;
  chunk_.clear_failed();
  const CounterDefinition definition{static_cast<std::uint32_t>(counters_.size()),
                                     names_.domain(handle, domain_name), id, names_.string(name).id,
                                     0};
  if (chunk_.has_failed() || !chunk_.add(DefinitionType::counter, definition)) return no_site;
  counters_.emplace(key, definition.id);
  describe_counter(handle, domain_name, id, definition.id);
  return definition.id;
}

// Defines the counter that was just given this number.
void PayloadDefinitions::describe_counter(std::uint64_t handle, std::string_view domain_name,
                                          std::uint64_t id, std::uint32_t number) {
  const trace::PayloadCounter* known = schemas_.counter(handle, id);
  if (known == nullptr) return;
  define_type(handle, domain_name, known->schema, 0);
  CounterMeaningDefinition definition = {};
  definition.schema = known->schema;
  definition.scope = known->scope;
  definition.counter = number;
  definition.description = names_.string(known->description).id;
  definition.scope_path = no_string;
  if (const trace::PayloadScope* scope = schemas_.scope(handle, known->scope)) {
    definition.scope_path = names_.string(scope->path).id;
  }
  definition.meaning = meaning_of(known->unit);
  chunk_.add(DefinitionType::counter_meaning, definition);
}

void PayloadDefinitions::scope(const trace::Event& event, std::uint64_t id) {
  const trace::PayloadScope* known = schemas_.scope(event.domain_handle, id);
  if (known == nullptr) return;
  const ScopeDefinition definition{id, known->parent,
                                   names_.domain(event.domain_handle, event.domain),
                                   names_.string(known->path).id};
  chunk_.add(DefinitionType::scope, definition);
}

}  // namespace nvspan::record
