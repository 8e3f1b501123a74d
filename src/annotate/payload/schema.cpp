// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0
#include "annotate/payload/schema.hpp"

#include <map>
#include <memory>
#include <mutex>

#include "annotate/payload/semantics.hpp"

namespace nvspan::annotate {

namespace {

constexpr size_t most_schemas = 8192;

struct KnownSchemas {
  std::mutex mutex;
  std::map<std::string, Schema*> of_key;
  std::map<uint64_t, Schema*> predefined;
};

KnownSchemas& schema_table() noexcept {
  static KnownSchemas* const table = new KnownSchemas;  // immortal: events outlive the module
  return *table;
}

// The mutex of all registrations: they are rare, and a nested schema is registered within.
std::recursive_mutex& registration_mutex() noexcept {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

void add_bits(std::string& key, uint64_t bits) {
  key.append(reinterpret_cast<const char*>(&bits), sizeof bits);
}

void add_text(std::string& key, const std::optional<std::string>& text) {
  add_bits(key, text ? text->size() + 1 : 0);
  if (text) key += *text;
}

// Equal for equal descriptions, and for no others.
std::string key_of(const SchemaDescription& description) {
  std::string key;
  add_text(key, description.name);
  add_bits(key, description.dynamic ? 1 : 0);
  add_bits(key, description.flags);
  add_bits(key, description.static_size);
  for (const SchemaEntry& entry : description.entries) {
    add_text(key, entry.name);
    add_bits(key, entry.type);
    add_bits(key, reinterpret_cast<uintptr_t>(entry.nested));
    add_bits(key, entry.flags);
    add_bits(key, entry.detail);
    add_bits(key, entry.offset);
    add_bits(key, entry.time_domain);
    add_bits(key, entry.counter ? 1 : 0);
    if (!entry.counter) continue;
    const CounterMeaning& counter = *entry.counter;
    add_bits(key, counter.flags);
    add_text(key, counter.unit);
    add_bits(key, counter.scale_numerator);
    add_bits(key, counter.scale_denominator);
    add_bits(key, static_cast<uint64_t>(counter.limit_type));
    add_bits(key, counter.min_bits);
    add_bits(key, counter.max_bits);
  }
  return key;
}

}  // namespace

const Schema* Schema::describe(SchemaDescription description) {
  const std::string key = key_of(description);
  KnownSchemas& table = schema_table();
  std::lock_guard<std::mutex> lock(table.mutex);
  const auto found = table.of_key.find(key);
  if (found != table.of_key.end()) return found->second;
  if (table.of_key.size() >= most_schemas) return nullptr;
  std::unique_ptr<Schema> schema(new Schema);
  schema->description_ = std::move(description);
  table.of_key.emplace(key, schema.get());
  return schema.release();
}

const Schema& Schema::predefined(uint64_t type) {
  KnownSchemas& table = schema_table();
  std::lock_guard<std::mutex> lock(table.mutex);
  Schema*& schema = table.predefined[type];
  if (!schema) {
    schema = new Schema;
    schema->predefined_ = type;
  }
  return *schema;
}

const Schema* Schema::array_of(const Schema& element) {
  if (const Schema* known = element.array_.load(std::memory_order_acquire)) return known;
  SchemaDescription description;
  description.dynamic = true;
  description.entries.resize(2);
  description.entries[0].name = "size";
  description.entries[0].type = nvtx::entry_type::uint64;
  description.entries[1].name = "data";
  description.entries[1].flags = nvtx::entry_flag::length_index;
  if (element.predefined_ != 0) {
    description.entries[1].type = element.predefined_;
  } else {
    description.entries[1].nested = &element;
  }
  const Schema* array = describe(std::move(description));
  element.array_.store(array, std::memory_order_release);
  return array;
}

uint64_t Schema::register_in(const Domain& domain, nvtxDomainHandle_t handle, const ToolTable& tool,
                             uint64_t epoch) const noexcept {
  const std::lock_guard<std::recursive_mutex> lock(registration_mutex());
  Registration* own = first_.load(std::memory_order_acquire);
  while (own && own->domain != &domain) own = own->next;
  if (own && own->epoch.load(std::memory_order_acquire) == epoch) {
    return own->id.load(std::memory_order_acquire);
  }
  uint64_t id = 0;
  try {
    id = register_with_tool(domain, handle, tool, epoch);
    if (!own) {
      own = new Registration;
      own->domain = &domain;
      own->next = first_.load(std::memory_order_acquire);
      own->epoch.store(epoch, std::memory_order_relaxed);
      own->id.store(id, std::memory_order_relaxed);
      first_.store(own, std::memory_order_release);
      return id;
    }
  } catch (const std::bad_alloc&) {
    return 0;
  }
  own->epoch.store(0, std::memory_order_release);
  own->id.store(id, std::memory_order_release);
  own->epoch.store(epoch, std::memory_order_release);
  return id;
}

#if NVSPAN_HAVE_NVTX

uint64_t Schema::register_with_tool(const Domain& domain, nvtxDomainHandle_t handle,
                                    const ToolTable& tool, uint64_t epoch) const {
  using Register = uint64_t (*)(nvtxDomainHandle_t, const nvtxPayloadSchemaAttr_t*);
  auto call = tool.payload_slot<Register>(NVTX3EXT_CBID_nvtxPayloadSchemaRegister);
  if (!call) return 0;
  if (predefined_ != 0) return predefined_;
  const std::vector<SchemaEntry>& from = description_.entries;
  std::vector<nvtxPayloadSchemaEntry_t> entries(from.size());
  std::vector<EntrySemantics> semantics(from.size());
  for (size_t i = 0; i < from.size(); ++i) {
    const SchemaEntry& entry = from[i];
    nvtxPayloadSchemaEntry_t& to = entries[i];
    to.flags = entry.flags;
    to.type = entry.type;
    if (entry.nested) {
      to.type = entry.nested->id(domain, handle, tool, epoch);
      if (to.type == 0) return 0;
    }
    to.name = entry.name ? entry.name->c_str() : nullptr;
    to.arrayOrUnionDetail = entry.detail;
    to.offset = entry.offset;
    to.semantics = semantics[i].fill(entry.counter ? &*entry.counter : nullptr, entry.time_domain,
                                     entry.time_domain != 0);
  }
  nvtxPayloadSchemaAttr_t attributes{};
  attributes.fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_TYPE |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                         NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES;
  attributes.type =
      description_.dynamic ? NVTX_PAYLOAD_SCHEMA_TYPE_DYNAMIC : NVTX_PAYLOAD_SCHEMA_TYPE_STATIC;
  attributes.entries = entries.data();
  attributes.numEntries = entries.size();
  if (!description_.dynamic) {
    attributes.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_STATIC_SIZE;
    attributes.payloadStaticSize = description_.static_size;
  }
  if (description_.flags != 0) {
    attributes.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_FLAGS;
    attributes.flags = description_.flags;
  }
  if (description_.name) {
    attributes.fieldMask |= NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME;
    attributes.name = description_.name->c_str();
  }
  return call(handle, &attributes);
}

#else

uint64_t Schema::register_with_tool(const Domain&, nvtxDomainHandle_t, const ToolTable&,
                                    uint64_t) const {
  return 0;
}

#endif

}  // namespace nvspan::annotate
