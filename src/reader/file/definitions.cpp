// SPDX-FileCopyrightText: Copyright (c) 2026 The nvspan authors
// SPDX-License-Identifier: Apache-2.0

// The definitions of a file: what its entries refer to by number.

#include "reader/chunks/definition_records.hpp"
#include "reader/file/loading.hpp"
#include "reader/file/schemas.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace nvspan::reader {
namespace {

constexpr std::size_t most_gpus = 256;  // of a process

// The place of number `id`; those before it that were not there are `none`.
template <typename T>
T& place(std::vector<T>& list, std::uint32_t id, const T& none) {
  if (id >= list.size()) list.resize(std::size_t{id} + 1, none);
  return list[id];
}

}  // namespace

// Takes the definitions of a file, each by its struct.
struct Recording::Definition {
  Recording& recording;
  Loading& loading;

  void operator()(const record::StringDefinition& read, std::string_view text) const {
    if (loading.fits(read.id)) place(loading.strings, read.id, no_name) = recording.intern(text);
  }
  void operator()(const record::DomainDefinition& read, std::string_view) const {
    if (!loading.fits(read.id)) return;
    place(loading.domain_names, read.id, no_name) = loading.text(read.name);
  }
  void operator()(const record::SiteDefinition& read, std::string_view) const {
    record::SiteDefinition none = {};
    none.id = no_definition;
    if (loading.fits(read.id)) place(loading.sites, read.id, none) = read;
  }
  void operator()(const record::LaunchShapeDefinition& read, std::string_view) const {
    loading.shapes[read.site] = read.shape;
  }
  void operator()(const record::WorkGapDefinition& read, std::string_view) const {
    loading.process.gaps[{read.from, read.reason}] = read.to;
  }
  void operator()(const record::GraphNodeDefinition& read, std::string_view) const {
    loading.process.graph_nodes[read.node] = read;
  }
  void operator()(const record::GpuLimitsDefinition& read, std::string_view) const {
    if (loading.process.gpus.size() < most_gpus || loading.process.gpus.count(read.device) != 0) {
      loading.process.gpus[read.device] = ReadGpu{read, loading.text(read.name)};
    }
  }
  void operator()(const record::CategoryDefinition& read, std::string_view) const {
    loading.categories[{read.domain, read.category}] = loading.text(read.name);
    schemas().categories[{read.domain, read.category}] = loading.text(read.name);
  }
  void operator()(const record::ThreadDefinition& read, std::string_view) const {
    if (!loading.fits(read.thread)) return;
    ReadThread& known = recording.thread(loading, read.thread, read.tid);
    known.defined = true;
    known.start_ticks = read.ticks;
    known.end_ticks = read.ticks;
  }
  void operator()(const record::ThreadName& read, std::string_view) const {
    loading.thread_names.push_back(read);
  }
  void operator()(const record::CounterDefinition& read, std::string_view) const {
    record::CounterDefinition none = {};
    none.id = no_definition;
    none.name = record::no_string;
    if (loading.fits(read.id)) place(loading.counters, read.id, none) = read;
  }
  void operator()(const EventDefinition&, std::string_view json) const {
    recording.events_.push_back(ReadEvent{loading.index, json});
  }
  void operator()(const record::DeviceLayoutDefinition& read, std::string_view) const {
    DeviceLayout& layout = loading.process.device_layouts[{read.domain, read.schema}];
    std::copy(std::begin(read.offsets), std::end(read.offsets), std::begin(layout.offsets));
  }
  void operator()(const record::DeviceNameDefinition& read, std::string_view) const {
    const bool device = read.kind == static_cast<std::uint32_t>(record::DeviceNameKind::device);
    auto& names = device ? loading.process.device_names : loading.process.stream_names;
    names[read.handle].push_back(GivenName{read.ticks, loading.text(read.name)});
  }
  void operator()(const record::SchemaDefinition& read, std::string_view following) const {
    std::vector<trace::PayloadEntry> entries;
    read_each<record::SchemaEntryDefinition>(following, [&](const auto& definition) {
      trace::PayloadEntry& entry = entries.emplace_back();
      entry.flags = definition.flags;
      entry.type = definition.type;
      entry.detail = definition.detail;
      entry.offset = definition.offset;
      entry.name = view(definition.name);
      entry.unit = unit_of(definition.meaning);
    });
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
  void operator()(const record::EnumDefinition& read, std::string_view following) const {
    std::vector<trace::PayloadEnumValue> values;
    read_each<record::EnumValueDefinition>(following, [&](const auto& value) {
      values.push_back(trace::PayloadEnumValue{view(value.name), value.value, value.is_flag != 0});
    });
    trace::PayloadEnum known;
    known.id = read.schema;
    known.size = read.size;
    known.name = view(read.name);
    known.values = values.data();
    known.count = values.size();
    schemas().table.add(read.domain, known);
  }
  void operator()(const record::ScopeDefinition& read, std::string_view) const {
    schemas().table.add_scope(read.domain, read.scope,
                              trace::PayloadScope{read.parent, view(read.path)});
  }
  void operator()(const record::CitedString& read, std::string_view) const {
    schemas().strings[read.handle] = loading.text(read.text);
  }
  void operator()(const record::CounterMeaningDefinition& read, std::string_view) const {
    loading.meanings[read.counter] = read;
  }
  void operator()(const record::CodeDefinition& read, std::string_view) const {
    const ReadCode code{loading.text(read.file), loading.text(read.function), read.first_line};
    if (is_sampled(read.id)) place(samples().codes, read.id, ReadCode()) = code;
  }
  void operator()(const record::FrameDefinition& read, std::string_view) const {
    const std::int32_t called = read.c_function == 0 ? -1 : loading.text(read.c_function - 1);
    const ReadFrame frame{read.code,   read.line,       read.end_line,
                          read.column, read.end_column, called};
    if (is_sampled(read.id)) place(samples().frames, read.id, ReadFrame()) = frame;
  }
  void operator()(const record::StackDefinition& read, std::string_view) const {
    const ReadStack stack{read.parent < read.id ? read.parent : 0, read.frame};
    if (is_sampled(read.id)) place(samples().stacks, read.id, ReadStack()) = stack;
  }
  void operator()(const record::SampledThreadDefinition& read, std::string_view) const {
    const SampledThread thread{read.tid, read.ticks};
    if (is_sampled(read.id)) place(samples().threads, read.id, SampledThread()) = thread;
  }

 private:
  ReadSchemas& schemas() const { return *loading.process.schemas; }
  SampleTables& samples() const { return loading.process.samples; }
  // Number 0 is that of nothing.
  bool is_sampled(std::uint32_t id) const { return id != 0 && loading.fits(id); }
  std::string_view view(std::uint32_t text) const { return loading.view(text, recording.strings_); }
  trace::CounterUnit unit_of(const record::MeaningDefinition& read) const {
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
};

void Recording::read_definitions(Loading& loading, const ReadChunk& chunk) {
  const bool whole = chunk.state == ChunkState::unchecked || chunk.state == ChunkState::whole;
  const DefinitionTrust kind = whole                             ? DefinitionTrust::whole
                               : chunk.state == ChunkState::open ? DefinitionTrust::open
                                                                 : DefinitionTrust::damaged;
  const auto bytes = static_cast<std::uint64_t>(chunk.end - chunk.begin) * word;
  DefinitionReader reader(FileSpan(chunk.begin, bytes), kind, chunk.sequence);
  for (DefinitionRecord found; reader.next(found);) {
    Definitions::read(found, Definition{*this, loading});
  }
  loading.damaged_definitions += reader.damaged_bytes();
  if (reader.is_incomplete()) add_problem(loading.process.path + ": a definition is cut off");
}

}  // namespace nvspan::reader
