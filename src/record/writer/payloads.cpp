// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// What a reader needs to take payloads apart: each schema, enumeration and scope is written before
// the first entry that needs it, and so is what the numbers in a payload stand for. Where a schema
// has none of those the bytes are not looked at.

#include "record/writer/recorder.hpp"
#include "trace/sinks/payload_text.hpp"

namespace nvspan::record {
namespace {

constexpr unsigned most_depth = trace::most_payload_depth + 1;

class Nobody final : public trace::PayloadVisitor {
 public:
  bool value(std::string_view, const trace::PayloadValue&) override { return true; }
  bool begin(std::string_view, bool) override { return true; }
  bool end(bool) override { return true; }
};

}  // namespace

// Asked for what a payload cites, it writes that down.
class Recorder::CitedNames final : public trace::PayloadNames {
 public:
  CitedNames(Recorder& owner, std::uint32_t domain) : owner_(owner), domain_(domain) {}

  std::string_view string(std::uint64_t domain, std::uint64_t handle) const override {
    const std::string_view found = owner_.names_.string(domain, handle);
    if (found.data() != nullptr && owner_.is_new(owner_.cited_, trace::DomainKey{0, handle}, 1)) {
      const CitedString made{handle, owner_.string(found).id, 0};
      owner_.define(DefinitionType::cited_string, &made, sizeof made);
    }
    return found;
  }
  std::string_view category(std::uint64_t domain, std::uint32_t number) const override {
    const std::string_view found = owner_.names_.category(domain, number);
    if (found.data() != nullptr &&
        owner_.is_new(owner_.cited_, trace::DomainKey{std::uint64_t{domain_} + 1, number}, 1)) {
      const CategoryDefinition made{domain_, number, owner_.string(found).id, 0};
      owner_.define(DefinitionType::category, &made, sizeof made);
    }
    return found;
  }

 private:
  Recorder& owner_;
  std::uint32_t domain_;
};

// Whether this version of it is not in the file yet; then it is taken to be.
bool Recorder::is_new(Map<trace::DomainKey, std::uint64_t, trace::DomainKeyHash>& map,
                      const trace::DomainKey& key, std::uint64_t version) {
  std::uint64_t& known = map[key];
  if (known == version) return false;
  known = version;
  return true;
}

void Recorder::describe(const trace::Event& event) {
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

void Recorder::cite(const trace::Event& event) {
  const core::PoolVector<trace::PayloadPiece>& pieces = trace::pieces_of(event, decoder_);
  const CitedNames names(*this, domain(event.domain_handle, event.domain));
  Nobody nobody;
  decoder_.decode(event.domain_handle, pieces.data(), pieces.size(), names, nobody);
}

void Recorder::define_type(std::uint64_t handle, std::string_view domain_name, std::uint64_t id,
                           unsigned depth) {
  if (id < nvtx::entry_type::first_custom || depth > most_depth) return;
  const trace::DomainKey key{handle, id};
  if (const trace::PayloadSchema* schema = schemas_.schema(handle, id)) {
    if (!is_new(described_, key, schema->version)) return;
    for (std::size_t i = 0; i < schema->count; ++i) {
      define_type(handle, domain_name, schema->entries[i].type, depth + 1);
    }
    write_schema(domain(handle, domain_name), *schema);
  } else if (const trace::PayloadEnum* known = schemas_.enumeration(handle, id)) {
    if (is_new(described_, key, known->version)) write_enum(domain(handle, domain_name), *known);
  }
}

void Recorder::write_schema(std::uint32_t domain, const trace::PayloadSchema& schema) {
  core::PoolVector<SchemaEntryDefinition> entries(pool_);
  entries.reserve(schema.count);
  for (std::size_t i = 0; i < schema.count; ++i) {
    const trace::PayloadEntry& from = schema.entries[i];
    SchemaEntryDefinition made = {};
    made.flags = from.flags;
    made.type = from.type;
    made.detail = from.detail;
    made.offset = from.offset;
    made.name = string(from.name).id;
    made.meaning = meaning_of(from.unit);
    entries.push_back(made);
  }
  SchemaDefinition made = {};
  made.schema = schema.id;
  made.type = schema.type;
  made.flags = schema.flags;
  made.size = schema.size;
  made.pack = schema.pack;
  made.domain = domain;
  made.name = string(schema.name).id;
  define(DefinitionType::schema, &made, sizeof made,
         std::string_view(reinterpret_cast<const char*>(entries.data()),
                          entries.size() * sizeof(SchemaEntryDefinition)));
}

void Recorder::write_enum(std::uint32_t domain, const trace::PayloadEnum& known) {
  core::PoolVector<EnumValueDefinition> values(pool_);
  values.reserve(known.count);
  for (std::size_t i = 0; i < known.count; ++i) {
    const trace::PayloadEnumValue& from = known.values[i];
    values.push_back(EnumValueDefinition{from.value, string(from.name).id, from.is_flag});
  }
  const EnumDefinition made{known.id, known.size, domain, string(known.name).id};
  define(DefinitionType::enumeration, &made, sizeof made,
         std::string_view(reinterpret_cast<const char*>(values.data()),
                          values.size() * sizeof(EnumValueDefinition)));
}

MeaningDefinition Recorder::meaning_of(const trace::CounterUnit& unit) {
  MeaningDefinition made = {};
  made.unit = string(unit.unit).id;
  made.limit_type = static_cast<std::uint32_t>(unit.limit_type);
  made.flags = unit.flags;
  made.scale_numerator = unit.scale_numerator;
  made.scale_denominator = unit.scale_denominator;
  made.min_bits = unit.min_bits;
  made.max_bits = unit.max_bits;
  return made;
}

// Of a counter that has just been given that number.
void Recorder::describe_counter(std::uint64_t handle, std::string_view domain_name,
                                std::uint64_t id, std::uint32_t number) {
  const trace::PayloadCounter* known = schemas_.counter(handle, id);
  if (known == nullptr) return;
  define_type(handle, domain_name, known->schema, 0);
  CounterMeaningDefinition made = {};
  made.schema = known->schema;
  made.scope = known->scope;
  made.counter = number;
  made.description = string(known->description).id;
  made.scope_path = no_string;
  if (const trace::PayloadScope* scope = schemas_.scope(handle, known->scope)) {
    made.scope_path = string(scope->path).id;
  }
  made.meaning = meaning_of(known->unit);
  define(DefinitionType::counter_meaning, &made, sizeof made);
}

void Recorder::put_samples(ThreadWriter& writer, const trace::Event& event, std::uint32_t subject,
                           std::uint64_t ticks) {
  trace::PayloadBlob blob;
  blob.schema_id = event.row_schema;
  blob.size = event.rows.size();
  blob.data = event.rows;
  trace::Event samples = event;
  samples.payload_type = trace::PayloadType::ext;
  samples.blobs = &blob;
  samples.blob_count = 1;
  put(writer, EntryKind::counter_bytes, subject, ticks, nullptr, 0, &samples);
}

// Scopes may be cited by any payload, and there are few of them.
void Recorder::keep_scope(const trace::Event& event, std::uint64_t id) {
  const trace::PayloadScope* known = schemas_.scope(event.domain_handle, id);
  if (known == nullptr) return;
  const ScopeDefinition made{id, known->parent, domain(event.domain_handle, event.domain),
                             string(known->path).id};
  define(DefinitionType::scope, &made, sizeof made);
}

}  // namespace nvspan::record
