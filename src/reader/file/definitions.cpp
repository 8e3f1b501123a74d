// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The definitions of a file: what its entries refer to by number.

#include "reader/file/loading.hpp"
#include "reader/file/schemas.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace nvspan::reader {
namespace {

template <typename T>
bool take(std::string_view body, T& out) {
  if (body.size() < sizeof(T)) return false;
  body.copy(reinterpret_cast<char*>(&out), sizeof(T));
  return true;
}

// The place of number `id`; those before it that were not there are `none`.
template <typename T>
T& place(std::vector<T>& list, std::uint32_t id, const T& none) {
  if (id >= list.size()) list.resize(std::size_t{id} + 1, none);
  return list[id];
}

}  // namespace

// One definition that is being read, by the function of its type.
struct Recording::Definition {
  Recording& recording;
  Loading& loading;
  std::string_view body;

  void string();
  void domain();
  void site();
  void category();
  void thread();
  void thread_name();
  void counter();
  void event() { recording.events_.push_back(ReadEvent{loading.index, body}); }
  void device_layout();
  void device_name();
  void schema();
  void enumeration();
  void scope();
  void cited_string();
  void counter_meaning();

 private:
  ReadSchemas& schemas() const { return *loading.process.schemas; }
  std::string_view view(std::uint32_t text) const { return loading.view(text, recording.strings_); }
  trace::CounterUnit unit_of(const record::MeaningDefinition& read) const;
};

void Recording::read_definitions(Loading& loading, const ReadChunk& chunk) {
  if (chunk.state != ChunkState::unchecked && chunk.state != ChunkState::whole) {
    return read_checked_definitions(loading, chunk);
  }
  for (const std::uint64_t* at = chunk.begin; at < chunk.end && *at != 0;) {
    const auto size = static_cast<std::size_t>(*at >> 32);
    const std::size_t words = (size + word - 1) / word;
    if (words > static_cast<std::size_t>(chunk.end - at - 1)) {
      add_problem(loading.process.path + ": a definition is cut off");
      return;
    }
    read_definition(loading, static_cast<record::DefinitionType>(*at & 0xFF),
                    std::string_view(reinterpret_cast<const char*>(at + 1), size));
    at += 1 + words;
  }
}

void Recording::read_definition(Loading& loading, record::DefinitionType type,
                                std::string_view body) {
  using Read = void (Definition::*)();
  static constexpr Read reads[] = {
      // by type
      nullptr,
      &Definition::string,
      &Definition::domain,
      &Definition::site,
      &Definition::category,
      &Definition::thread,
      &Definition::thread_name,
      &Definition::counter,
      &Definition::event,
      &Definition::device_layout,
      &Definition::device_name,
      &Definition::schema,
      &Definition::enumeration,
      &Definition::scope,
      &Definition::cited_string,
      &Definition::counter_meaning,
  };
  static_assert(std::size(reads) == static_cast<std::size_t>(record::last_definition_type) + 1);
  const auto number = static_cast<std::size_t>(type);
  if (number == 0 || number >= std::size(reads)) return;
  Definition definition{*this, loading, body};
  (definition.*reads[number])();
}

void Recording::Definition::string() {
  record::StringDefinition read = {};
  if (!take(body, read) || !loading.fits(read.id)) return;
  place(loading.strings, read.id, no_name) = recording.intern(body.substr(sizeof read));
}

void Recording::Definition::domain() {
  record::DomainDefinition read = {};
  if (!take(body, read) || !loading.fits(read.id)) return;
  place(loading.domain_names, read.id, no_name) = loading.text(read.name);
}

void Recording::Definition::site() {
  record::SiteDefinition read = {};
  if (!take(body, read) || !loading.fits(read.id)) return;
  record::SiteDefinition none = {};
  none.id = no_definition;
  place(loading.sites, read.id, none) = read;
}

void Recording::Definition::category() {
  record::CategoryDefinition read = {};
  if (!take(body, read)) return;
  loading.categories[{read.domain, read.category}] = loading.text(read.name);
  schemas().categories[{read.domain, read.category}] = loading.text(read.name);
}

void Recording::Definition::thread() {
  record::ThreadDefinition read = {};
  if (!take(body, read) || !loading.fits(read.thread)) return;
  ReadThread& known = recording.thread(loading, read.thread, read.tid);
  known.defined = true;
  known.start_ticks = read.ticks;
  known.end_ticks = read.ticks;
}

void Recording::Definition::thread_name() {
  record::ThreadName read = {};
  if (take(body, read)) loading.thread_names.push_back(read);
}

void Recording::Definition::counter() {
  record::CounterDefinition read = {};
  if (!take(body, read) || !loading.fits(read.id)) return;
  record::CounterDefinition none = {};
  none.id = no_definition;
  none.name = record::no_string;
  place(loading.counters, read.id, none) = read;
}

void Recording::Definition::device_layout() {
  record::DeviceLayoutDefinition read = {};
  if (!take(body, read)) return;
  DeviceLayout& layout = loading.process.device_layouts[{read.domain, read.schema}];
  std::copy(std::begin(read.offsets), std::end(read.offsets), std::begin(layout.offsets));
}

void Recording::Definition::device_name() {
  record::DeviceNameDefinition read = {};
  if (!take(body, read)) return;
  const bool device = read.kind == static_cast<std::uint32_t>(record::DeviceNameKind::device);
  auto& names = device ? loading.process.device_names : loading.process.stream_names;
  names[read.handle].push_back(GivenName{read.ticks, loading.text(read.name)});
}

trace::CounterUnit Recording::Definition::unit_of(const record::MeaningDefinition& read) const {
  trace::CounterUnit unit;
  unit.unit = view(read.unit);
  unit.flags = read.flags;
  unit.scale_numerator = read.scale_numerator;
  unit.scale_denominator = read.scale_denominator;
  unit.limit_type = read.limit_type;
  unit.min_bits = read.min_bits;
  unit.max_bits = read.max_bits;
  return unit;
}

void Recording::Definition::schema() {
  record::SchemaDefinition read = {};
  if (!take(body, read)) return;
  body.remove_prefix(sizeof read);
  std::vector<trace::PayloadEntry> entries;
  record::SchemaEntryDefinition definition = {};
  while (take(body, definition)) {
    body.remove_prefix(sizeof definition);
    trace::PayloadEntry& entry = entries.emplace_back();
    entry.flags = definition.flags;
    entry.type = definition.type;
    entry.detail = definition.detail;
    entry.offset = definition.offset;
    entry.name = view(definition.name);
    entry.unit = unit_of(definition.meaning);
  }
  trace::PayloadSchema schema;
  schema.id = read.schema;
  schema.type = read.type;
  schema.flags = read.flags;
  schema.size = read.size;
  schema.pack = read.pack;
  schema.name = view(read.name);
  schema.entries = entries.data();
  schema.count = entries.size();
  schemas().table.add(read.domain, schema);
}

void Recording::Definition::enumeration() {
  record::EnumDefinition read = {};
  if (!take(body, read)) return;
  body.remove_prefix(sizeof read);
  std::vector<trace::PayloadEnumValue> values;
  record::EnumValueDefinition value = {};
  while (take(body, value)) {
    body.remove_prefix(sizeof value);
    values.push_back(trace::PayloadEnumValue{view(value.name), value.value, value.is_flag != 0});
  }
  trace::PayloadEnum known;
  known.id = read.schema;
  known.size = read.size;
  known.name = view(read.name);
  known.values = values.data();
  known.count = values.size();
  schemas().table.add(read.domain, known);
}

void Recording::Definition::scope() {
  record::ScopeDefinition read = {};
  if (!take(body, read)) return;
  schemas().table.add_scope(read.domain, read.scope,
                            trace::PayloadScope{read.parent, view(read.path)});
}

void Recording::Definition::cited_string() {
  record::CitedString read = {};
  if (take(body, read)) schemas().strings[read.handle] = loading.text(read.text);
}

void Recording::Definition::counter_meaning() {
  record::CounterMeaningDefinition read = {};
  if (take(body, read)) loading.meanings[read.counter] = read;
}

}  // namespace nvspan::reader
